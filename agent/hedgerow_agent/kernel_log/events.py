"""Xids and SXids together by device and code: a burst is one event with a count. Their number is bounded."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from hedgerow import xid_codes
from hedgerow.gpu_faults import HOLD_SECONDS
from hedgerow.wire_agent import EVENT_XID, FAILED, GpuEvent
from hedgerow_agent.kernel_log import sxid
from hedgerow_agent.kernel_log.line import GpuMessage
from hedgerow_agent.kernel_log.recovery import Recovery, of_message, recovery

MAX_EVENTS = 64
# The driver may write what is to be done just before what happened.
_TOGETHER_SECONDS = 5.0


@dataclass
class _Event:
    message: GpuMessage
    meaning: xid_codes.Meaning
    first: float
    last: float
    count: int = 1
    recovered: bool = False


class Events:
    """The events of one node."""

    def __init__(self, hold_seconds: float = HOLD_SECONDS) -> None:
        self._hold = hold_seconds
        self._events: OrderedDict[tuple[str, str, int], _Event] = OrderedDict()
        self._recovery: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def add(self, message: GpuMessage, at: float) -> None:
        """Take a message that the kernel wrote at this time (CLOCK_BOOTTIME)."""
        key = (message.kind, message.pci, message.code)
        known = self._events.get(key)
        if known is not None and not known.recovered:
            _again(known, message, at)
        else:
            self._events[key] = _Event(message, _meaning(message), at, at)
        self._events.move_to_end(key)
        if message.kind == EVENT_XID and message.code == xid_codes.RECOVERY_CHANGED:
            self._note_recovery(message, at)
        self._forget()

    def driver_loaded(self, at: float) -> None:
        """The driver was loaded anew: what was before is over."""
        for event in self._events.values():
            if event.last <= at:
                event.recovered = True
        self._recovery.clear()

    def recovery(self, pci: str) -> Recovery | None:
        """What the driver last said is to be done about this GPU; None when it said nothing."""
        found = self._recovery.get(pci)
        return None if found is None else recovery(found[1])

    def standing(self, now: float, indexes: Mapping[str, int]) -> list[GpuEvent]:
        """Every event, newest last. indexes: PCI address -> index of a GPU of this node."""
        return [self._event(event, now, indexes) for event in self._events.values()]

    def held(self, now: float, indexes: Mapping[str, int]) -> list[GpuEvent]:
        """Those that still count against something."""
        return [event for event in self.standing(now, indexes) if not event.recovered and event.age <= self._hold]

    def _event(self, event: _Event, now: float, indexes: Mapping[str, int]) -> GpuEvent:
        message, meaning = event.message, event.meaning
        action, fatal = meaning.action, meaning.fatal
        said = self._recovery.get(message.pci)
        if said is not None and message.kind == EVENT_XID and said[0] >= event.first - _TOGETHER_SECONDS and fatal:
            # The driver knows better than a table what this GPU needs.
            own = recovery(said[1])
            action, fatal = own.action, own.health == FAILED
        return GpuEvent(
            kind=message.kind, code=message.code, pci=message.pci, gpu=indexes.get(message.pci), count=event.count,
            age=max(0.0, now - event.last), first_age=max(0.0, now - event.first), meaning=meaning.words,
            action=action, fatal=fatal, recovered=event.recovered, pid=message.pid, process=message.process,
            message=message.message,
        )  # fmt: skip

    def _note_recovery(self, message: GpuMessage, at: float) -> None:
        number = of_message(message.message)
        if number is None:
            return
        self._recovery[message.pci] = (at, number)
        self._recovery.move_to_end(message.pci)
        while len(self._recovery) > MAX_EVENTS:
            self._recovery.popitem(last=False)
        if number == 0:
            for (_, pci, _), event in self._events.items():
                if pci == message.pci and event.last <= at:
                    event.recovered = True

    def _forget(self) -> None:
        """Room for the newest: first what is over, then what is not fatal, then the oldest."""
        while len(self._events) > MAX_EVENTS:
            over = [key for key, event in self._events.items() if event.recovered]
            mild = [key for key, event in self._events.items() if not event.meaning.fatal]
            del self._events[(over or mild or list(self._events))[0]]


def _meaning(message: GpuMessage) -> xid_codes.Meaning:
    if message.kind != EVENT_XID:
        return sxid.meaning(message.code, message.message)
    if message.code == xid_codes.RECOVERY_CHANGED:
        number = of_message(message.message)
        if number is not None:
            own = recovery(number)
            return xid_codes.Meaning(f"the driver asks for: {own.words}", own.action, own.health == FAILED)
    return xid_codes.meaning(message.code, message.message)


def _again(event: _Event, message: GpuMessage, at: float) -> None:
    meaning = _meaning(message)
    event.count += 1
    event.last = max(event.last, at)
    # The data that follow an SXid, and a mild one after a fatal one, take nothing back; a recovery action does.
    if message.code == xid_codes.RECOVERY_CHANGED or meaning.fatal or not event.meaning.fatal:
        event.meaning, event.message = meaning, message
