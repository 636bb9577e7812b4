"""When a placement on a node that cannot be asked may be force-deleted: only when nothing of it can be alive.

An isolated launcher kills its ranks ``fenceSeconds`` after its newest current answer, unless every other launcher of
the attempt vouches for it. So the clock runs from the moment at which the attempt is recorded as fenced (no answer is
current any more) and one other worker is known not to vouch: it has reported that it stopped, or it is over or gone.
"""

from hedgerow.wire import STAGE_RUNNING, STAGE_STOPPED
from hedgerow_operator.api.times import parse_optional_time
from hedgerow_operator.core.gang import STRAY_SECONDS, Gang
from hedgerow_operator.core.seen import WorkerSeen
from hedgerow_operator.core.step import Context

# Beyond the launchers' own fence time: clock drift, the length of a request, the time that a kill takes.
MARGIN_SECONDS = 15.0


def clock_may_start(gang: Gang) -> bool:
    """Whether an isolated launcher of the fenced attempt can no longer be vouched for by its whole gang."""
    unreachable = {worker.index for worker in _unreachable(gang)}
    return any(_does_not_vouch(gang, index) for index in range(gang.workers) if index not in unreachable)


def forceable(gang: Gang, fence_seconds: float, fenced_for: float | None) -> tuple[str, ...]:
    """Names of workers that may be deleted without waiting for their node.

    fenced_for: seconds since the clock was seen to be recorded as started, on a clock that does not jump; None: it has
    not.
    """
    over = fenced_for is not None and fenced_for >= fence_seconds + MARGIN_SECONDS
    return tuple(
        worker.name for worker in _unreachable(gang)
        if worker.terminating and (worker.node_gone or over or _has_stopped(gang, worker.index))
    )


def last_words_seconds(grace: float) -> float:
    """How long ranks may live whose pods the API has forgotten: what is under way to them, and their grace."""
    return STRAY_SECONDS + grace


def placing_wait(context: Context) -> float:
    """Seconds until the next placement may be created. Behind an attempt that was fenced the time of day is not
    trusted: a clock that jumps forward must not end the wait for its ranks.
    """
    status, seen = context.status, context.seen
    if status.next_start_at is None:
        return 0.0
    least = 0.0
    if seen.fences_by_time and 0 < status.fenced_attempt == status.attempt - 1:
        least = last_words_seconds(float(context.job.spec.grace_seconds))
    return max(start_wait(context), least - seen.stage_seconds)


def start_wait(context: Context) -> float:
    """Seconds until the time of the next start, if there is one. No wait is meant to be longer than the longest that is
    ever set, so a clock that was wrong when it was set, or went back since, does not hold a job up.
    """
    at = parse_optional_time(context.status.next_start_at)
    if at is None:
        return 0.0
    spec = context.job.spec
    longest = max(float(spec.recovery.backoff.max_seconds), last_words_seconds(float(spec.grace_seconds)))
    return min(at - context.now, longest - context.seen.stage_seconds)


def _unreachable(gang: Gang) -> list[WorkerSeen]:
    workers = gang.placement.workers if gang.placement else ()
    return [worker for worker in workers if worker.node_silent or worker.node_gone]


def _has_stopped(gang: Gang, index: int) -> bool:
    """Whether its launcher, which nobody tells to start any more, has said that no rank of the attempt is left."""
    report = gang.report(index)
    return report is not None and report.attempt == gang.attempt and report.stage == STAGE_STOPPED


def _does_not_vouch(gang: Gang, index: int) -> bool:
    if gang.worker(index) is None or gang.ended(index):
        return True
    report = gang.report(index)
    return index in gang.fresh and report is not None and report.stage != STAGE_RUNNING
