"""When a placement on a node that cannot be asked may be force-deleted: only when nothing of it can be alive.

An isolated launcher kills its ranks ``fenceSeconds`` after its newest current answer, unless every other launcher of
the attempt vouches for it. So the clock runs from the moment at which the attempt is recorded as fenced (no answer is
current any more) and one other worker is known not to vouch: it has reported that it stopped, or it is over or gone.
"""

from hedgerow.wire import STAGE_RUNNING
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.seen import WorkerSeen

# Beyond the launchers' own fence time: clock drift, the length of a request, the time that a kill takes.
MARGIN_SECONDS = 15.0


def clock_may_start(gang: Gang) -> bool:
    """Whether an isolated launcher of the fenced attempt can no longer be vouched for by its whole gang."""
    unreachable = {worker.index for worker in _unreachable(gang)}
    return any(_does_not_vouch(gang, index) for index in range(gang.workers) if index not in unreachable)


def forceable(gang: Gang, fence_seconds: float, fenced_for: float | None) -> tuple[str, ...]:
    """Names of workers that may be deleted without waiting for their node.

    fenced_for: seconds since the clock was recorded to have started; None: it has not.
    """
    over = fenced_for is not None and fenced_for >= fence_seconds + MARGIN_SECONDS
    return tuple(worker.name for worker in _unreachable(gang) if worker.terminating and (worker.node_gone or over))


def _unreachable(gang: Gang) -> list[WorkerSeen]:
    workers = gang.placement.workers if gang.placement else ()
    return [worker for worker in workers if worker.node_silent or worker.node_gone]


def _does_not_vouch(gang: Gang, index: int) -> bool:
    if gang.worker(index) is None or gang.ended(index):
        return True
    report = gang.report(index)
    return index in gang.fresh and report is not None and report.stage != STAGE_RUNNING
