"""Xids of one GPU out of a gauge that shows the last one and keeps it: what stays the same is no new event."""

from collections import OrderedDict

from msgspec import Struct

from hedgerow.gpu_faults import HOLD_SECONDS
from hedgerow.wire_agent import EVENT_XID, GpuEvent
from hedgerow.xid_codes import meaning
from hedgerow_operator.core.nodes.dcgm.fields import XID
from hedgerow_operator.core.nodes.dcgm.text import MAX_XIDS, GpuText


class _Event(Struct):
    first: float
    last: float
    count: int = 1
    shown: float | None = None  # how many were counted at the last scrape; None: none ever
    recovered: bool = False


class Xids:
    """Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._events: OrderedDict[int, _Event] = OrderedDict()
        self._gauge = 0

    def recall(self, code: int, at: float) -> None:
        """The gauge showed this code before, since ``at``: to find it there still is no news."""
        self._gauge = code
        self._events[code] = _Event(at, at)

    def take(self, gpu: GpuText, now: float) -> None:
        """What the exporter shows now. No series, or 0, takes nothing back: newer exporters leave the metric out."""
        code = int(gpu.raw.get(XID, 0.0))
        if code > 0 and code != self._gauge:
            self._happened(code, now)
        self._gauge = code or self._gauge
        for counted, shown in gpu.xids.items():
            event = self._events.get(counted)
            if event is None or (event.shown is not None and shown > event.shown):
                event = self._happened(counted, now)
            event.shown = shown
        for counted, event in self._events.items():
            if event.shown is not None:
                event.shown = gpu.xids.get(counted, 0.0)

    def driver_loaded(self) -> None:
        """The GPU was reset or the driver loaded anew: what was before is over, and the gauge begins anew."""
        for event in self._events.values():
            event.recovered = True
        self._gauge = 0

    def standing(self, index: int, pci: str, now: float) -> list[GpuEvent]:
        """Every event, newest last."""
        return [self._event(code, event, index, pci, now) for code, event in self._events.items()]

    def held(self, index: int, pci: str, now: float) -> list[GpuEvent]:
        """Those that still count against the GPU."""
        return [one for one in self.standing(index, pci, now) if not one.recovered and one.age <= HOLD_SECONDS]

    def _happened(self, code: int, now: float) -> _Event:
        event = self._events.get(code)
        if event is None or event.recovered:
            event = self._events[code] = _Event(now, now)
        else:
            event.last, event.count = now, event.count + 1
        self._events.move_to_end(code)
        while len(self._events) > MAX_XIDS:
            self._events.popitem(last=False)
        return event

    def _event(self, code: int, event: _Event, index: int, pci: str, now: float) -> GpuEvent:
        found = meaning(code)
        return GpuEvent(
            kind=EVENT_XID, code=code, pci=pci, gpu=index, count=event.count, age=now - event.last,
            first_age=now - event.first, meaning=found.words, action=found.action, fatal=found.fatal,
            recovered=event.recovered,
        )  # fmt: skip
