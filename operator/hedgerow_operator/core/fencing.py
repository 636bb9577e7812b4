"""When a placement on a node that cannot be asked may be force-deleted: only when nothing of it can be alive."""

from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.seen import WorkerSeen

# Beyond the launchers' own fence time: clock drift, the length of a request, the time that a kill takes.
MARGIN_SECONDS = 15.0


def forceable(gang: Gang, fence_seconds: float, fenced_for: float) -> tuple[str, ...]:
    """Names of workers that may be deleted without waiting for their node.

    fenced_for: seconds since the attempt was recorded as fenced. The timer counts only while another worker of the
    attempt can no longer vouch for it: it was heard since (and so told to stop), or it is gone.
    """
    workers = gang.placement.workers if gang.placement else ()
    unreachable = [worker for worker in workers if worker.terminating and (worker.node_silent or worker.node_gone)]
    out = [worker for worker in unreachable if worker.node_gone]
    if fenced_for >= fence_seconds + MARGIN_SECONDS:
        out += [
            worker for worker in unreachable
            if not worker.node_gone and _others_stopped(gang, worker, unreachable, fenced_for)
        ]
    return tuple(worker.name for worker in out)


def _others_stopped(gang: Gang, worker: WorkerSeen, unreachable: list[WorkerSeen], fenced_for: float) -> bool:
    unreachable_indexes = {other.index for other in unreachable}
    for index in range(gang.workers):
        if index == worker.index or index in unreachable_indexes:
            continue
        heard = gang.launchers.get(index)
        heard_since = heard is not None and heard.age < fenced_for
        if heard_since or gang.worker(index) is None or gang.ended(index):
            return True
    return False
