"""What a rank's last words say: a fault of the training script, of the storage, or a consequence of another's end."""

import signal
from collections.abc import Iterable, Sequence
from itertools import takewhile
from operator import attrgetter

from hedgerow.wire import RankReport
from hedgerow_operator.core.fault_words import Fault, FaultKind, classify, exception_in
from hedgerow_operator.core.gang import RankView

# A process that raises may take so long from closing its connections to its end (its exit handlers run).
CAUSE_SECONDS = 30.0

_OWN = (FaultKind.APPLICATION, FaultKind.STORAGE, FaultKind.DEVICE)
# Not SIGABRT, by which watchdogs of collectives end the victims, nor SIGTERM, which others send.
_VIOLENT = (signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


def read_fault(tail: Sequence[str]) -> Fault:
    """The fault that the last lines of a rank's output tell of."""
    for line in reversed(tail):
        if (words := exception_in(line)) is not None:
            return classify(words)
    return Fault(kind=FaultKind.NONE)


def fault_of(report: RankReport) -> Fault:
    """The fault that ended a rank. An exception ends a process with a code, never by a signal."""
    return Fault(kind=FaultKind.NONE) if report.exit_signal is not None else read_fault(report.output_tail)


def first_exit(ranks: Sequence[RankView], together_seconds: float) -> RankView | None:
    """The failed rank that ended first: the ones after it are usually its victims.

    Exits within ``together_seconds`` of it cannot be told apart by time; then one that speaks of a broken connection
    is a victim of one that does not, and one that was told to end was told so because of another (torchrun ends the
    others of its worker). A process may close its connections long before it ends, so one with a fault of its own that
    ends up to CAUSE_SECONDS later still went first.
    """
    failed = sorted([rank for rank in ranks if rank.failed], key=attrgetter("exited_seconds"), reverse=True)
    if not failed:
        return None
    first = failed[0].exited_seconds
    close = takewhile(lambda rank: rank.exited_seconds >= first - together_seconds, failed)
    later = takewhile(lambda rank: rank.exited_seconds >= first - CAUSE_SECONDS, failed)
    return (
        _not_told_to_end(rank for rank in close if not is_consequence(rank.own))
        or _not_told_to_end(rank for rank in later if _of_its_own(rank.own))
        or failed[0]
    )


def _not_told_to_end(causes: Iterable[RankView]) -> RankView | None:
    """The first of them that nobody told to end, else the first."""
    first = None
    for rank in causes:
        if rank.own.exit_signal != signal.SIGTERM:
            return rank
        first = first or rank
    return first


def is_consequence(report: RankReport) -> bool:
    """Whether the rank ended because another one, or the way to it, was gone."""
    return fault_of(report).kind is FaultKind.CONSEQUENCE


def _of_its_own(report: RankReport) -> bool:
    return report.exit_signal in _VIOLENT or fault_of(report).kind in _OWN


def same_on_all(ranks: Sequence[RankView], expected: int) -> str | None:
    """The application fault that every one of ``expected`` (two or more) ranks ended with, or None."""
    if expected < 2 or len(ranks) < expected:
        return None
    tail, first = ranks[0].own.output_tail, fault_of(ranks[0].own)
    if first.kind is not FaultKind.APPLICATION:
        return None
    # Most tails are equal to the letter: of thousands only the others are read.
    alike = all(
        rank.failed
        and ((rank.own.exit_signal is None and rank.own.output_tail == tail) or fault_of(rank.own).text == first.text)
        for rank in ranks
    )
    return first.text if alike else None
