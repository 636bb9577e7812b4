"""Events as they come, each counted once: a watchdog says the same thing two or three times."""

from collections.abc import Hashable, Iterable

import msgspec

from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent

# Bounds memory; a log with more tells nothing new.
MAX_EVENTS = 20_000
_DIFFERENT_GROUPS = (EventKind.WATCHDOG_TIMEOUT, EventKind.WATCHDOG_STUCK, EventKind.DUMP_SIGNAL)


class Collector:
    """The events so far, in the order of their first lines."""

    def __init__(self) -> None:
        self.events: list[LogEvent] = []
        self.omitted = 0
        self._known: dict[Hashable, list[int]] = {}

    def add(self, events: Iterable[LogEvent]) -> bool:
        """Take events; whether there were any."""
        any_came = False
        for event in events:
            any_came = True
            self._add(event)
        return any_came

    def _add(self, event: LogEvent) -> None:
        identity = _identity(event)
        for place in self._known.get(identity, ()):
            known = self.events[place]
            if known.group is None or event.group is None or known.group == event.group:
                self.events[place] = _merged(known, event)
                return
        if len(self.events) >= MAX_EVENTS:
            self.omitted += 1
            return
        self._known.setdefault(identity, []).append(len(self.events))
        self.events.append(event)


def _identity(event: LogEvent) -> Hashable:
    if event.kind in _DIFFERENT_GROUPS:
        return event.kind, event.rank, event.seq
    said = event.details.get("says") or event.details.get("status") or event.details.get("code")
    others = tuple(str(event.details.get(name)) for name in ("peer", "node", "localRank", "missing", "process"))
    return event.kind, event.rank, event.seq, event.op, event.fault_class, event.consequence, said, others


def _merged(known: LogEvent, again: LogEvent) -> LogEvent:
    times = known.details.get("times", 1) + 1
    return msgspec.structs.replace(
        known,
        group=known.group or again.group,
        op=known.op or again.op,
        details=again.details | known.details | {"times": times},
    )
