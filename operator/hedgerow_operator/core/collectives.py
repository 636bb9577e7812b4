"""Who is missing in a collective, by the flight recorders of the ranks that stand still."""

from collections.abc import Sequence

from hedgerow.recorder_dump import expand
from hedgerow.wire import RankReport
from hedgerow_operator.core.activity import surely_idle
from hedgerow_operator.core.attribution.fault_class import Confidence
from hedgerow_operator.core.attribution.recorder.dump import RankDump
from hedgerow_operator.core.attribution.recorder.read import NotADumpError, read_dump
from hedgerow_operator.core.attribution.recorder.verdict import RecorderVerdict, judge_dumps
from hedgerow_operator.core.evidence import Culprit
from hedgerow_operator.core.gang import RankView


def not_joined(live: Sequence[RankView]) -> Culprit | None:
    """Ranks that surely never joined the collective in which others wait; decisive only if their process trees do
    nothing: one that is busy elsewhere has not joined either."""
    verdict = _verdict(live)
    if verdict is None or verdict.confidence is not Confidence.CERTAIN:
        return None
    named = frozenset(verdict.guilty)
    guilty = [rank for rank in live if rank.rank in named]
    if not guilty:
        return None
    return Culprit(
        ranks=tuple(rank.rank for rank in guilty), why=verdict.message, fault_class=verdict.fault_class,
        decisive=all(surely_idle(rank.report) for rank in guilty),
    )


def nobody(live: Sequence[RankView]) -> Culprit | None:
    """Everyone has joined: what they share is the first suspect."""
    verdict = _verdict(live)
    if verdict is None or verdict.guilty or verdict.collective is None:
        return None
    return Culprit(why=verdict.message, fault_class=verdict.fault_class)


def is_stale(report: RankReport) -> bool:
    """Whether what the flight recorder told is older than the standstill of its rank."""
    if report.collectives is None or report.collectives_age is None or report.progress_age is None:
        return False
    return report.collectives_age > report.progress_age


def _verdict(live: Sequence[RankView]) -> RecorderVerdict | None:
    """None where fewer than two ranks have a dump, and where one is of a time when its rank still progressed."""
    if any(is_stale(rank.report) for rank in live):
        return None
    dumps = [dump for rank in live if rank.report.collectives and (dump := _dump(rank)) is not None]
    return judge_dumps(dumps) if len(dumps) > 1 else None


def _dump(rank: RankView) -> RankDump | None:
    try:
        return read_dump(expand(rank.report.collectives or {}), rank.rank)
    except NotADumpError:
        return None
