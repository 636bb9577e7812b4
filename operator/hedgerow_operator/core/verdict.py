"""Healthy, Suspect, Stalled or NotMeasured: two independent evidences, or a much longer silence."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import islice
from math import inf

from msgspec import Struct, structs

from hedgerow.wire import PHASE_ENDING, PHASE_INIT, PHASE_STEP
from hedgerow_operator.api import reasons
from hedgerow_operator.core import phrases
from hedgerow_operator.core.activity import ENOUGH_SHARE, Computing, computing, describe, idle_for
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.culprit import Culprit, find_culprit
from hedgerow_operator.core.gang import Gang, RankView
from hedgerow_operator.core.rank_reports import SOURCE_LOG, STOPPED_STATES, changed
from hedgerow_operator.core.stall_class import class_of_standstill

# Without a measurable second evidence the deadline must be passed this many times over.
UNMEASURED_FACTOR = 3.0
# A rank alone is judged while its peers go on only when it is this many deadlines behind, and this many steps:
# ranks that wait for each other are never more than one apart.
ALONE_FACTOR = 5.0
ALONE_STEPS = 2
MOST_CLASSED = 64
MOST_GPUS = 4

_BY_PHASE = {PHASE_INIT: reasons.STARTUP_TIMEOUT, PHASE_ENDING: reasons.ENDING_TIMEOUT}


class Kind(StrEnum):
    """What can be said of a gang's progress."""

    HEALTHY = "Healthy"
    SUSPECT = "Suspect"
    STALLED = "Stalled"
    NOT_MEASURED = "NotMeasured"


class Verdict(Struct, frozen=True, kw_only=True):
    """kind, and for Suspect and Stalled: reason, guilty ranks, evidence sentences, phase and how long (seconds)
    nothing has progressed. decisive: acting at once is right. factor: how many times over the deadline must pass for a
    restart, by the evidence that there is."""

    kind: Kind
    reason: str
    message: str
    ranks: tuple[int, ...] = ()
    evidence: tuple[str, ...] = ()
    decisive: bool = False
    phase: str = ""
    still_seconds: float = 0.0
    factor: float = 1.0
    fault_class: FaultClass = FaultClass.UNKNOWN


def judge(
    gang: Gang, deadlines: Mapping[str, float], speaks: bool = False, unmeasured_factor: float = UNMEASURED_FACTOR
) -> Verdict:
    """The verdict on the live ranks that are heard. ``deadlines``: seconds by phase; unknown phases never pass.

    speaks: the job has reported progress in an earlier attempt, so that a start without any is no missing beat().
    unmeasured_factor: how many times a deadline must pass where no second evidence can be had.
    """
    if not gang.sums.live:
        message = "no rank is alive any more" if gang.sums.count else "no rank has reported yet"
        return Verdict(kind=Kind.NOT_MEASURED, reason=reasons.NOT_MEASURED, message=message)
    if gang.sums.ended_well:
        return _ending(gang, deadlines)
    if all(age <= deadlines.get(phase, inf) for phase, age in gang.sums.oldest.items()):
        return _progressing(gang)
    if not _all_past(gang, deadlines):
        return _some_overdue(gang, deadlines)
    if gang.silent and not gang.listened:
        return _suspect(gang.live, deadlines, f"{phrases.workers(gang.silent)} cannot be heard yet")
    if not speaks and _mute(gang.live, deadlines):
        return Verdict(
            kind=Kind.NOT_MEASURED,
            reason=reasons.NOT_MEASURED,
            message="no rank has ever reported progress: call hedgerow.beat(step=…) in the training loop",
        )
    unread = [rank for rank in gang.speakers if not rank.exited and _unread(rank, deadlines)]
    if unread:
        names = phrases.ranks(rank.rank for rank in unread)
        return Verdict(
            kind=Kind.NOT_MEASURED,
            reason=reasons.NOT_MEASURED,
            message=f"the output of {names} came too fast to be read, so that it says nothing of progress",
        )
    return _all_overdue(gang, deadlines, unmeasured_factor)


def _unread(rank: RankView, deadlines: Mapping[str, float]) -> bool:
    """Whether its lines tell the progress, and within the last deadline some of them were not read."""
    age = rank.own.output_unread_age
    return rank.own.source == SOURCE_LOG and age is not None and age <= _limit(rank, deadlines)


def _all_past(gang: Gang, deadlines: Mapping[str, float], factor: float = 1.0) -> bool:
    """Whether every live rank is overdue, as its sums say."""
    return all(age > factor * deadlines.get(phase, inf) for phase, age in gang.sums.newest.items())


def _overdue(rank: RankView, deadlines: Mapping[str, float], factor: float = 1.0) -> bool:
    age = rank.progress.progress_age
    return age is not None and age > factor * _limit(rank, deadlines)


def _limit(rank: RankView, deadlines: Mapping[str, float]) -> float:
    return deadlines.get(rank.progress.phase, inf)


def _progressing(gang: Gang) -> Verdict:
    if gang.silent:
        return Verdict(
            kind=Kind.NOT_MEASURED,
            reason=reasons.REPORTS_LOST,
            message=f"{phrases.workers(gang.silent)} cannot be heard; the ranks that are heard make progress",
        )
    return Verdict(kind=Kind.HEALTHY, reason=reasons.HEALTHY, message="every rank makes progress within its deadline")


def _some_overdue(gang: Gang, deadlines: Mapping[str, float]) -> Verdict:
    """Peers go on: a rank alone is stalled only when it is far behind and does nothing."""
    if gang.sums.closer_than(ALONE_STEPS):
        return _progressing(gang)
    far = _furthest(gang, deadlines) - ALONE_STEPS
    late = {phase: ALONE_FACTOR * limit for phase, limit in deadlines.items()}
    behind = [
        rank
        for rank, one in zip(gang.live, gang.told, strict=True)
        if (one.step is None or one.step <= far) and (one.progress_age or 0.0) > late.get(one.phase, inf)
    ]
    alone = behind if gang.sums.frozen else [rank for rank in behind if _frozen(rank, deadlines)]
    if not alone:
        return _progressing(gang)
    numbers = tuple(rank.rank for rank in alone)
    culprit = Culprit(ranks=numbers, why=f"{phrases.ranks(numbers)} stands still while the others go on")
    return _stalled(alone, deadlines, culprit, ALONE_FACTOR)


def _furthest(gang: Gang, deadlines: Mapping[str, float]) -> int:
    """The step of the peers that step on; those that only have a longer deadline (they save, say) do not."""
    limit = deadlines.get(PHASE_STEP, inf)
    reached = [one.step for one in gang.told if one.phase == PHASE_STEP and (one.progress_age or 0.0) <= limit]
    return max([step for step in reached if step is not None], default=-1)


def _step(rank: RankView) -> int:
    step = (rank.spoken or rank.own).step
    return -1 if step is None else step


def _ending(gang: Gang, deadlines: Mapping[str, float]) -> Verdict:
    """Some ranks have ended well. The others get the time of the phase ``ending``, or of their own if that is longer,
    from the last sign of progress: a step of theirs, or the end of another.
    """
    ended = phrases.ranks([rank.rank for rank in gang.ended_ranks])
    last = 0 if gang.sums.closer_than(ALONE_STEPS) else max([_step(rank) for rank in gang.ended_ranks])
    late = [rank for rank in gang.live if _step(rank) + ALONE_STEPS <= last] if last else []
    if behind := [rank for rank in late if _stands(rank, deadlines)]:
        names = phrases.ranks(rank.rank for rank in behind)
        why = f"{ended} ended with exit code 0 after step {last}, which {names} never reached"
        return _stalled(behind, deadlines, Culprit(ranks=tuple(rank.rank for rank in behind), why=why))
    newest, limit = gang.ended_well_seconds, deadlines.get(PHASE_ENDING, inf)
    numbers = tuple([rank.rank for rank in gang.live])
    if not _all_late_to_end(gang, newest, limit, deadlines):
        message = f"{ended} ended with exit code 0, {phrases.ranks(numbers)} may take {phrases.seconds(limit)} to end"
        return Verdict(kind=Kind.HEALTHY, reason=reasons.HEALTHY, message=message)
    culprit = Culprit(ranks=numbers, why=f"{ended} ended with exit code 0, {phrases.ranks(numbers)} did not end")
    left: Sequence[RankView] = gang.live
    if gang.sums.frozen and len(left) > MOST_CLASSED:
        still = [_still_at_end(rank, newest) or 0.0 for rank in left]
        left = [left[place] for place in sorted(range(len(still)), key=still.__getitem__)[:MOST_CLASSED]]
    return _all_still(gang, [_as_ending(rank, newest, limit, deadlines) for rank in left], deadlines, culprit)


def _stands(rank: RankView, deadlines: Mapping[str, float]) -> bool:
    return _overdue(rank, deadlines) and _frozen(rank, deadlines)


def _all_late_to_end(gang: Gang, newest: float, limit: float, deadlines: Mapping[str, float]) -> bool:
    """Mostly the sums tell; where the oldest report might be that of another phase, every rank is looked at."""
    heard = newest - max([rank.age for rank in gang.live])
    if all(min(age, heard) > max(limit, deadlines.get(phase, inf)) for phase, age in gang.sums.newest.items()):
        return True
    return all(_late_to_end(rank, newest, limit, deadlines) for rank in gang.live)


def _late_to_end(rank: RankView, newest: float, limit: float, deadlines: Mapping[str, float]) -> bool:
    still = _still_at_end(rank, newest)
    return still is not None and still > max(limit, _limit(rank, deadlines))


def _as_ending(rank: RankView, newest: float, limit: float, deadlines: Mapping[str, float]) -> RankView:
    phase = rank.progress.phase if _limit(rank, deadlines) > limit else PHASE_ENDING
    told = changed(rank.progress, phase=phase, progress_age=_still_at_end(rank, newest))
    return structs.replace(rank, spoken=told)


def _still_at_end(rank: RankView, newest: float) -> float | None:
    age = (rank.spoken or rank.own).progress_age
    return None if age is None else max(0.0, min(age, newest - rank.age))


def _all_overdue(gang: Gang, deadlines: Mapping[str, float], factor: float) -> Verdict:
    silent = tuple(rank for worker in gang.silent for rank in gang.ranks_of(worker))
    return _all_still(gang, gang.live, deadlines, find_culprit(gang.live, silent, gang.sums), factor)


def _all_still(
    gang: Gang,
    live: Sequence[RankView],
    deadlines: Mapping[str, float],
    culprit: Culprit,
    factor: float = UNMEASURED_FACTOR,
) -> Verdict:
    """Every live rank is overdue: a stall if none of them shows work."""
    if gang.sums.frozen or gang.sums.stopped:
        return _with_gpus(_stalled(live, deadlines, culprit), gang)
    if gang.sums.at_work:
        return _suspect(live, deadlines, f"{_work(live, gang.sums.at_work)}, so nothing is done")
    kinds = [_by_gpu(_computing(rank, deadlines), rank, gang) for rank in live]
    active, unknown = _of(live, kinds, Computing.ACTIVE), _of(live, kinds, Computing.UNKNOWN)
    if active:
        return _suspect(live, deadlines, f"{_work(live, active)}, so nothing is done")
    # Lines that come in bursts may be held back for any time: silence between them is never enough.
    if unknown and not all(_overdue(rank, deadlines, factor) and not rank.progress.bursty for rank in live):
        return _suspect(live, deadlines, _untold(unknown, live, factor))
    return _with_gpus(_stalled(live, deadlines, culprit, UNMEASURED_FACTOR if unknown else 1.0), gang)


def _by_gpu(seen: Computing, rank: RankView, gang: Gang) -> Computing:
    """A GPU that does far less than while its rank trained tells where the process tells nothing."""
    return Computing.FROZEN if seen is Computing.UNKNOWN and rank.rank in gang.quiet else seen


def _with_gpus(verdict: Verdict, gang: Gang) -> Verdict:
    """The verdict with what the GPUs of the guilty ranks show; where nobody is named, those of all."""
    numbers = [number for number in verdict.ranks or sorted(gang.quiet) if number in gang.quiet][:MOST_GPUS]
    if not numbers:
        return verdict
    evidence = (*verdict.evidence, *(f"the GPU of rank {number} {gang.quiet[number]}" for number in numbers))
    return structs.replace(verdict, evidence=evidence, message="; ".join(evidence))


def _of(live: Sequence[RankView], kinds: Sequence[Computing], wanted: Computing) -> list[int]:
    if wanted not in kinds:
        return []
    return [rank.rank for rank, kind in zip(live, kinds, strict=True) if kind is wanted]


def _work(live: Sequence[RankView], active: Sequence[int]) -> str:
    """Who still works, and what was seen of the first of them."""
    least = min(active)
    first = next(rank for rank in live if rank.rank == least)
    verb = "shows" if len(active) == 1 else "show"
    return f"{phrases.ranks(active)} still {verb} work (rank {first.rank} {describe(first.report)})"


def _untold(unknown: list[int], live: Sequence[RankView], factor: float) -> str:
    who = f"whether {phrases.ranks(unknown)} computes cannot be told"
    if any(rank.progress.bursty for rank in live):
        return f"{who}, and the output comes in bursts, so nothing is done"
    return f"{who}, so the deadline must pass {factor:g} times over"


def _suspect(live: Sequence[RankView], deadlines: Mapping[str, float], because: str) -> Verdict:
    latest = _latest(live)
    return Verdict(
        kind=Kind.SUSPECT,
        reason=reasons.NO_PROGRESS,
        message=f"{_standstill(latest, deadlines)}; {because}",
        phase=latest.report.phase,
        still_seconds=latest.report.progress_age or 0.0,
    )


def _stalled(
    still: Sequence[RankView], deadlines: Mapping[str, float], culprit: Culprit, factor: float = 1.0
) -> Verdict:
    latest = _latest(still)
    named = frozenset(culprit.ranks)
    # Of thousands that stand alike, some tell as much as all.
    guilty = list(islice((rank for rank in still if rank.rank in named), MOST_CLASSED)) if named else []
    stopped = any(rank.own.activity.process_state in STOPPED_STATES for rank in guilty)
    reason = reasons.RANK_STOPPED if stopped else _BY_PHASE.get(latest.report.phase, reasons.NO_PROGRESS)
    shown = guilty or still[:1]
    evidence = (
        _standstill(latest, deadlines),
        culprit.why,
        *(f"rank {rank.rank} {describe(rank.report)}" for rank in shown[:4]),
    )
    return Verdict(
        kind=Kind.STALLED,
        reason=reason,
        message="; ".join(evidence),
        ranks=culprit.ranks,
        evidence=evidence,
        decisive=culprit.decisive,
        factor=factor,
        fault_class=culprit.fault_class
        if culprit.fault_class is not FaultClass.UNKNOWN
        else class_of_standstill((guilty or still)[:MOST_CLASSED]),
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


def _latest(ranks: Sequence[RankView]) -> RankView:
    """The rank that progressed last."""
    ages = [(rank.spoken or rank.own).progress_age or 0.0 for rank in ranks]
    return ranks[ages.index(min(ages))]


def _frozen(rank: RankView, deadlines: Mapping[str, float]) -> bool:
    return _computing(rank, deadlines) in (Computing.FROZEN, Computing.STOPPED)


def _computing(rank: RankView, deadlines: Mapping[str, float]) -> Computing:
    told = rank.spoken or rank.own
    return computing(rank.own.activity, told.progress_age, deadlines[told.phase])


def _mute(overdue: Sequence[RankView], deadlines: Mapping[str, float]) -> bool:
    """Whether nothing was ever said, and not all ranks have been idle for so long that they cannot be training."""
    if any(rank.own.source is not None or rank.progress.beats for rank in overdue):
        return False
    return not all(idle_for(rank.report, ENOUGH_SHARE * _limit(rank, deadlines)) for rank in overdue)
