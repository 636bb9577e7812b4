"""Healthy, Suspect, Stalled or NotMeasured: two independent evidences, or a much longer silence."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from hedgerow.wire import PHASE_INIT
from hedgerow_operator.api import reasons
from hedgerow_operator.core import phrases
from hedgerow_operator.core.activity import Computing, computing, describe
from hedgerow_operator.core.culprit import Culprit, find_culprit
from hedgerow_operator.core.gang import Gang, RankView

# Without a measurable second evidence the deadline must be passed this many times over.
UNMEASURED_FACTOR = 3.0
# A rank alone is judged while its peers go on only when it is this many deadlines behind.
ALONE_FACTOR = 5.0


class Kind(StrEnum):
    """What can be said of a gang's progress."""

    HEALTHY = "Healthy"
    SUSPECT = "Suspect"
    STALLED = "Stalled"
    NOT_MEASURED = "NotMeasured"


class Verdict(Struct, frozen=True, kw_only=True):
    """kind, and for Suspect and Stalled: reason, guilty ranks, evidence sentences, phase and how long (seconds)
    nothing has progressed. decisive: acting at once is right."""

    kind: Kind
    reason: str
    message: str
    ranks: tuple[int, ...] = ()
    evidence: tuple[str, ...] = ()
    decisive: bool = False
    phase: str = ""
    still_seconds: float = 0.0


def judge(gang: Gang, deadlines: Mapping[str, float]) -> Verdict:
    """The verdict on the live ranks that are heard. ``deadlines``: seconds by phase; unknown phases never pass."""
    live = gang.live
    if not live:
        return Verdict(kind=Kind.NOT_MEASURED, reason=reasons.NOT_MEASURED, message="no live rank is heard")
    overdue = [rank for rank in live if _overdue(rank, deadlines)]
    if not overdue:
        return _progressing(gang)
    if len(overdue) < len(live):
        return _some_overdue(gang, overdue, deadlines)
    return _all_overdue(gang, deadlines)


def _overdue(rank: RankView, deadlines: Mapping[str, float], factor: float = 1.0) -> bool:
    limit = deadlines.get(rank.report.phase)
    return limit is not None and rank.report.progress_age is not None and rank.report.progress_age > factor * limit


def _progressing(gang: Gang) -> Verdict:
    if gang.silent:
        return Verdict(
            kind=Kind.NOT_MEASURED,
            reason=reasons.REPORTS_LOST,
            message=f"{phrases.workers(gang.silent)} cannot be heard; the ranks that are heard make progress",
        )
    return Verdict(kind=Kind.HEALTHY, reason=reasons.HEALTHY, message="every rank makes progress within its deadline")


def _some_overdue(gang: Gang, overdue: list[RankView], deadlines: Mapping[str, float]) -> Verdict:
    """Peers go on: a rank alone is stalled only when it is far behind and does nothing."""
    alone = [
        rank for rank in overdue
        if _overdue(rank, deadlines, ALONE_FACTOR) and _frozen(rank, deadlines)
    ]
    if not alone:
        return _progressing(gang)
    numbers = tuple(rank.rank for rank in alone)
    culprit = Culprit(ranks=numbers, why=f"{phrases.ranks(numbers)} stands still while the others go on")
    return _stalled(gang, alone, deadlines, culprit)


def _all_overdue(gang: Gang, deadlines: Mapping[str, float]) -> Verdict:
    kinds = {rank.rank: computing(rank.report, deadlines[rank.report.phase]) for rank in gang.live}
    silent = tuple(rank for worker in gang.silent for rank in gang.ranks_of(worker))
    if Computing.STOPPED in kinds.values():
        return _stalled(gang, list(gang.live), deadlines, find_culprit(gang.live, silent))
    active = [rank for rank, kind in kinds.items() if kind is Computing.ACTIVE]
    unknown = [rank for rank, kind in kinds.items() if kind is Computing.UNKNOWN]
    if active:
        return _suspect(gang, deadlines, f"{phrases.ranks(active)} still shows work, so nothing is done")
    unmeasured = all(_overdue(rank, deadlines, UNMEASURED_FACTOR) for rank in gang.live)
    if unknown and not unmeasured:
        return _suspect(
            gang, deadlines,
            f"whether {phrases.ranks(unknown)} computes cannot be told, so the deadline must pass "
            f"{UNMEASURED_FACTOR:.0f} times over",
        )
    if unknown and _no_source(gang):
        return Verdict(
            kind=Kind.NOT_MEASURED,
            reason=reasons.NOT_MEASURED,
            message="no rank has ever reported progress: call hedgerow.beat(step=…) in the training loop",
        )
    return _stalled(gang, list(gang.live), deadlines, find_culprit(gang.live, silent))


def _suspect(gang: Gang, deadlines: Mapping[str, float], because: str) -> Verdict:
    latest = _latest(gang.live)
    return Verdict(
        kind=Kind.SUSPECT,
        reason=reasons.NO_PROGRESS,
        message=f"{_standstill(latest, deadlines)}; {because}",
        phase=latest.report.phase,
        still_seconds=latest.report.progress_age or 0.0,
    )


def _stalled(gang: Gang, still: list[RankView], deadlines: Mapping[str, float], culprit: Culprit) -> Verdict:
    latest = _latest(still)
    stopped = any(
        computing(rank.report, 0.0) is Computing.STOPPED for rank in still if rank.rank in culprit.ranks
    )
    starting = latest.report.phase == PHASE_INIT
    reason = reasons.RANK_STOPPED if stopped else reasons.STARTUP_TIMEOUT if starting else reasons.NO_PROGRESS
    shown = [rank for rank in still if rank.rank in culprit.ranks] or still[:1]
    evidence = (
        _standstill(latest, deadlines),
        culprit.why,
        *(f"rank {rank.rank} {describe(rank.report)}" for rank in shown[:4]),
    )
    return Verdict(
        kind=Kind.STALLED,
        reason=reason,
        message=f"{evidence[0]}; {culprit.why}",
        ranks=culprit.ranks,
        evidence=evidence,
        decisive=culprit.decisive,
        phase=latest.report.phase,
        still_seconds=latest.report.progress_age or 0.0,
    )


def _standstill(latest: RankView, deadlines: Mapping[str, float]) -> str:
    report = latest.report
    step = f" at step {report.step}" if report.step is not None else ""
    limit = deadlines.get(report.phase, 0.0)
    return (
        f"no rank has progressed for {phrases.seconds(report.progress_age or 0.0)} in phase {report.phase}{step} "
        f"(deadline {phrases.seconds(limit)})"
    )


def _latest(ranks: tuple[RankView, ...] | list[RankView]) -> RankView:
    """The rank that progressed last."""
    return min(ranks, key=lambda rank: rank.report.progress_age or 0.0)


def _frozen(rank: RankView, deadlines: Mapping[str, float]) -> bool:
    kind = computing(rank.report, deadlines[rank.report.phase])
    return kind in (Computing.FROZEN, Computing.STOPPED)


def _no_source(gang: Gang) -> bool:
    return all(rank.report.source is None and rank.report.beats == 0 for rank in gang.live)
