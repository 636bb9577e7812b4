"""The good end: every rank of the attempt has ended by itself with exit code 0."""

from hedgerow.wire import RANK_EXITED, STOP_ENDED
from hedgerow_operator.api import reasons
from hedgerow_operator.core import phrases
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.ledger import progress_seen
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.seen import WORKER_SUCCEEDED
from hedgerow_operator.core.step import ENDED, Context, Step


def finished(gang: Gang) -> bool:
    """Whether every worker is done: its launcher says so, or its container ended with 0 without being asked to."""
    return all(_reported_done(gang, worker) or _exited_done(gang, worker) for worker in range(gang.workers))


def reported_finished(gang: Gang) -> bool:
    """Whether every launcher says so itself. Containers say nothing once the attempt was told to stop: a script that
    saves and ends with 0 on SIGTERM has not finished.
    """
    return all(_reported_done(gang, worker) for worker in range(gang.workers))


def succeed(context: Context) -> Step:
    """The job has succeeded."""
    every = "all " if context.gang.expected > 1 else ""
    message = f"{every}{phrases.ranks(range(context.gang.expected))} finished"
    return Step(status=context.status).then(
        Event(reason=reasons.ALL_RANKS_FINISHED, message=message),
        attempt_stage=ENDED,
        completion_time=context.moment,
        incident=None,
        stopping=None,
        ledger=progress_seen(context.status.ledger, context.gang, context.now),
    )


def _reported_done(gang: Gang, worker: int) -> bool:
    report = gang.report(worker)
    ranks = report.ranks if report is not None and worker in gang.fresh and report.attempt == gang.attempt else []
    return (
        len(ranks) == gang.ranks_per_worker
        and not _was_stopped(gang, worker)
        and all(rank.state == RANK_EXITED and rank.exit_code == 0 and rank.exit_signal is None for rank in ranks)
    )


def _exited_done(gang: Gang, worker: int) -> bool:
    seen = gang.worker(worker)
    if seen is None or seen.phase != WORKER_SUCCEEDED or seen.terminating or seen.disrupted:
        return False
    return not _was_stopped(gang, worker)


def _was_stopped(gang: Gang, worker: int) -> bool:
    report = gang.report(worker)
    own = report is not None and report.attempt == gang.attempt
    return own and report is not None and report.stop_cause not in (None, STOP_ENDED)
