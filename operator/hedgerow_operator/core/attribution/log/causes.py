"""Failures that have a cause of their own: exceptions, memory, devices, exits, mismatches, and ends from outside."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.fault_class import Confidence, FaultClass
from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent

_WATCHDOGS = (EventKind.WATCHDOG_TIMEOUT, EventKind.WATCHDOG_STUCK)
# What a process ends with when its watchdog or its torchrun ends it, after the watchdog or the exception has spoken.
_CODES_OF_VICTIMS = (1, -6, 134)
_WORDS = {
    FaultClass.APPLICATION: "a fault of the program",
    FaultClass.HARDWARE: "a device failed",
    FaultClass.STORAGE: "the storage failed",
    FaultClass.NETWORK: "the network failed",
    FaultClass.SCHEDULER: "ended from outside",
    FaultClass.UNKNOWN: "a process ended, and why is not told",
}


class Account(Struct, frozen=True, kw_only=True):
    """One way to account for the events. first: the first failure. rests_on: the events that say so."""

    first: LogEvent
    message: str
    suspects: tuple[int, ...] = ()
    victims: tuple[int, ...] = ()
    fault_class: FaultClass = FaultClass.UNKNOWN
    confidence: Confidence = Confidence.NONE
    rests_on: tuple[LogEvent, ...] = ()


def cause_account(events: Sequence[LogEvent], ranks: int | None) -> Account | None:
    """The account of the first failure that has a cause of its own, if there is one."""
    causes = _causes(events)
    if not causes:
        return None
    first = causes[0]
    if first.fault_class is FaultClass.SCHEDULER:
        return Account(first=first, message=f"the job was ended from outside (line {first.line}): no rank is to blame",
                       fault_class=FaultClass.SCHEDULER, confidence=Confidence.CERTAIN)  # fmt: skip
    if first.kind is EventKind.COLLECTIVE_MISMATCH:
        return _mismatch(first)
    same = [event for event in causes if _says(event) == _says(first) and event.kind is first.kind]
    return _everywhere(first, same, causes, ranks) or _somewhere(first, same, events, ranks)


def _mismatch(first: LogEvent) -> Account:
    """Ranks that call different collectives tell two sides, not which of them is wrong."""
    looked_at = (first.rank,) if first.details.get("placeToLook") and first.rank is not None else ()
    sides = first.details.get("ranks") or looked_at
    return Account(
        first=first,
        message=f"the program calls different collectives on its ranks (line {first.line}): "
        f"look at {phrases.ranks(sides)}; no node is to blame",
        suspects=looked_at,
        fault_class=FaultClass.APPLICATION,
        confidence=Confidence.SUSPECTED if looked_at else Confidence.CERTAIN,
    )


def _causes(events: Sequence[LogEvent]) -> list[LogEvent]:
    """Events with a cause of their own; exits only if nothing explains them, or torchrun calls them the first."""
    causes: list[LogEvent] = []
    warned = False
    for event in events:
        warned = warned or event.kind in _WATCHDOGS
        if event.consequence or event.kind in (*_WATCHDOGS, EventKind.DUMP_SIGNAL, EventKind.NETWORK_ERROR):
            continue
        if event.kind is EventKind.COLLECTIVE_MISMATCH and event.fault_class is FaultClass.UNKNOWN:
            continue
        if event.kind is EventKind.EXIT and not _is_cause(event, causes, warned):
            continue
        causes.append(event)
    return causes


def _is_cause(event: LogEvent, causes: Sequence[LogEvent], warned: bool) -> bool:
    if event.details.get("cancelled"):
        return not causes
    follows = bool(causes) or (warned and event.details.get("code") in _CODES_OF_VICTIMS)
    return not follows and (not warned or bool(event.details.get("firstObserved")))


def _everywhere(
    first: LogEvent, same: Sequence[LogEvent], causes: Sequence[LogEvent], ranks: int | None
) -> Account | None:
    """The same exception on all ranks (or on most of those that are known): no rank and no node is to blame."""
    if first.kind is not EventKind.EXCEPTION or first.fault_class is not FaultClass.APPLICATION:
        return None
    raised = known_ranks(same)
    times = sum(event.details.get("times", 1) for event in same)
    amount = max(len(raised), times if not raised else 0)
    others = known_ranks(event for event in causes if event.kind is EventKind.EXCEPTION) - raised
    enough = amount * 2 > ranks if ranks else amount > len(others)
    if amount < 2 or not enough:
        return None
    return Account(
        first=first,
        message=f"the same exception on {amount} ranks: a fault of the program, no rank and no node is to blame",
        fault_class=FaultClass.APPLICATION,
        confidence=Confidence.CERTAIN,
        rests_on=tuple(same),
    )


def _somewhere(first: LogEvent, same: Sequence[LogEvent], events: Sequence[LogEvent], ranks: int | None) -> Account:
    root = next((event for event in events if event.details.get("firstObserved")), None)
    suspects = _suspects(first, same)
    if not suspects and root is not None and root.rank is not None:
        suspects = (root.rank,)
    who = phrases.ranks(suspects) if suspects else _unnamed(first)
    return Account(
        first=first,
        message=f"{_what(first)}, first on {who} (line {first.line})",
        suspects=suspects,
        victims=everybody(events, ranks) if suspects else (),
        fault_class=first.fault_class,
        confidence=Confidence.CERTAIN if first.fault_class is not FaultClass.UNKNOWN else Confidence.LIKELY,
        rests_on=(first,) if root is None or root is first else (first, root),
    )


def _what(first: LogEvent) -> str:
    return "memory ran out" if first.kind is EventKind.OUT_OF_MEMORY else _WORDS[first.fault_class]


def _unnamed(first: LogEvent) -> str:
    local = first.details.get("localRank")
    return "a rank that is not told" if local is None else f"local rank {local} of a node that is not told"


def _suspects(first: LogEvent, same: Sequence[LogEvent]) -> tuple[int, ...]:
    """The rank that failed first; of a broken device or storage, all ranks that say the same."""
    if first.kind is EventKind.EXIT:
        return () if first.rank is None else (first.rank,)
    shared = first.fault_class is not FaultClass.APPLICATION
    told = [event for event in same if event.rank is not None]
    return tuple(sorted(known_ranks(told if shared else told[:1])))


def _says(event: LogEvent) -> object:
    """What makes two events of one kind the same; kernel, launcher and rank tell of memory in different words."""
    return event.kind is EventKind.OUT_OF_MEMORY or event.details.get("says") or event.text


def known_ranks(events: Iterable[LogEvent]) -> set[int]:
    """Ranks that events surely name by their global number."""
    return {event.rank for event in events if event.rank is not None and not event.details.get("rankIsWithinGroup")}


def everybody(events: Sequence[LogEvent], ranks: int | None) -> tuple[int, ...]:
    """All ranks of the job, as far as they are known."""
    return tuple(sorted(known_ranks(events).union(range(ranks or 0))))
