"""Accounts of jobs that stood still: ranks that others miss, a failed network, ranks that only say that they wait."""

from collections.abc import Sequence

from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.fault_class import Confidence, FaultClass
from hedgerow_operator.core.attribution.log.causes import Account, everybody, known_ranks
from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent


def missing_account(events: Sequence[LogEvent], ranks: int | None) -> Account | None:
    """When a report names the ranks that did not join, or a rank says that its interpreter lock is held."""
    held = [event for event in events if event.details.get("interpreterLockHeld")]
    reports = [event for event in events if event.details.get("missing")]
    if reports:
        report = reports[-1]  # the latest look
        suspects = tuple(report.details["missing"])
        once = bool(report.details.get("oneLook"))
        return Account(
            first=report,
            message=f"{phrases.ranks(suspects)} did not join {_collective(report)} of {report.group or 'a group'}"
            + ("; if a second look shows the same counts, they are stuck" if once else ""),
            suspects=suspects,
            victims=tuple(report.details.get("joined") or everybody(events, ranks)),
            confidence=Confidence.SUSPECTED if once else Confidence.LIKELY,
            rests_on=(report,),
        )
    holders = known_ranks(held)
    timed_out = known_ranks(event for event in events if event.kind is EventKind.WATCHDOG_TIMEOUT)
    # A rank that waits in a collective inside of Python may hold the lock too: then it is no sign.
    if holders and not holders & timed_out and len(holders) < (ranks or len(holders) + 1):
        return Account(
            first=held[0],
            message=f"{phrases.ranks(holders)} could not get the lock of the Python interpreter: some code holds it",
            suspects=tuple(holders),
            victims=everybody(events, ranks),
            fault_class=FaultClass.APPLICATION,
            confidence=Confidence.LIKELY,
            rests_on=tuple(held),
        )
    return None


def network_account(events: Sequence[LogEvent]) -> Account | None:
    """When the network itself is said to fail."""
    failed = [event for event in events if event.fault_class is FaultClass.NETWORK]
    if not failed:
        return None
    return Account(
        first=failed[0],
        message=f"the network failed (line {failed[0].line}): a link, a port or the peer behind it, not the program",
        victims=tuple(known_ranks(events)),
        fault_class=FaultClass.NETWORK,
        confidence=Confidence.LIKELY,
        rests_on=tuple(failed),
    )


def waiting_account(events: Sequence[LogEvent], ranks: int | None) -> Account | None:
    """When ranks only say that they waited too long: those that do not say it are suspect, if it is known who they are.

    Nobody is if the group is not surely that of all ranks: its members are not told. The one who spoke first is not.
    """
    waiting = [event for event in events if event.kind in (EventKind.WATCHDOG_TIMEOUT, EventKind.WATCHDOG_STUCK)]
    if not waiting:
        return _relays(events)
    if waiting[0].details.get("gauge"):
        return _gauges(waiting)
    timeouts = [event for event in waiting if event.kind is EventKind.WATCHDOG_TIMEOUT]
    reporters = known_ranks(waiting)
    behind = _behind(timeouts, ranks)
    silent = _silent(timeouts, reporters, ranks)
    suspects = behind or silent
    everywhere = ranks is not None and len(reporters) >= ranks > 1 and not suspects and bool(timeouts)
    return Account(
        first=waiting[0],
        message=_message(waiting, behind, silent, everywhere),
        suspects=suspects,
        victims=tuple(sorted(reporters.difference(suspects))),
        fault_class=FaultClass.NETWORK if everywhere else FaultClass.UNKNOWN,
        confidence=Confidence.SUSPECTED if suspects or everywhere else Confidence.NONE,
        rests_on=tuple(waiting),
    )


def _relays(events: Sequence[LogEvent]) -> Account | None:
    """A signal to dump says who noticed first that it waits, which is no reason to suspect it."""
    relays = [event for event in events if event.kind is EventKind.DUMP_SIGNAL]
    if not relays:
        return None
    origins = {event.details["from"] for event in relays if "from" in event.details}
    noticed = (
        f"{phrases.ranks(origins)} noticed first that it waited too long" if origins else "some rank waited too long"
    )
    return Account(
        first=relays[0],
        message=f"{noticed}, and told the others to write their dumps; who did not join is not told",
        victims=tuple(known_ranks(relays) | origins),
        rests_on=tuple(relays),
    )


def _gauges(waiting: Sequence[LogEvent]) -> Account:
    first = waiting[0]
    hanging, of = first.details["hanging"], first.details["of"]
    names = phrases.ranks(known_ranks(waiting))
    whole = bool(first.details["jobWide"])
    return Account(
        first=first,
        message=f"all {of} ranks hang: the whole job stands still"
        if whole
        else f"{names} of {of} hang: not yet the whole job ({hanging} of {of}), and they may only wait for the others",
        victims=tuple(known_ranks(waiting)),
        confidence=Confidence.LIKELY if whole else Confidence.NONE,
        rests_on=tuple(waiting),
    )


def _silent(timeouts: Sequence[LogEvent], reporters: set[int], ranks: int | None) -> tuple[int, ...]:
    """Ranks of the world that did not say that they wait, if it is the world that was waited for."""
    sizes = {event.details.get("groupSize") for event in timeouts} - {None}
    subgroup = any(event.details.get("defaultGroup") is False for event in timeouts)
    if ranks is None or not timeouts or not reporters or subgroup or any(size != ranks for size in sizes):
        return ()
    return tuple(rank for rank in range(ranks) if rank not in reporters)


def _behind(timeouts: Sequence[LogEvent], ranks: int | None) -> tuple[int, ...]:
    """A few ranks that wait in an earlier collective of the group of all ranks than the rest, when all ranks say it."""
    told = {event.rank: event.seq for event in timeouts if event.rank is not None and event.seq is not None}
    subgroup = any(event.details.get("defaultGroup") is False for event in timeouts)
    if subgroup or ranks is None or len(told) < ranks or len(set(told.values())) < 2:
        return ()
    lowest = min(told.values())
    behind = tuple(sorted(rank for rank, seq in told.items() if seq == lowest))
    return behind if len(behind) * 2 < len(told) else ()


def _message(waiting: Sequence[LogEvent], behind: tuple[int, ...], silent: tuple[int, ...], everywhere: bool) -> str:
    first = waiting[0]
    reporters = known_ranks(waiting)
    who = phrases.ranks(reporters) if reporters else "a rank"
    said = f"{who} waited too long" + (f" in {_collective(first)}" if first.op or first.seq is not None else "")
    if first.details.get("startup"):
        said += ", one of the first collectives: a fault at the start, not in training"
    if behind:
        return f"{said}; {phrases.ranks(behind)} wait in an earlier collective than the others"
    if silent:
        return f"{said}; suspected, no more, are those that do not say so: {phrases.ranks(silent)}"
    if everywhere:
        return f"{said}, all of them: the fabric or the storage that they share is the first suspect"
    return f"{said}; who did not join is not told"


def _collective(event: LogEvent) -> str:
    return (event.op or "collective") + (f" {event.seq}" if event.seq is not None else "")
