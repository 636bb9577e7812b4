"""What has to be done in the outside world, given the status as it is stored."""

from collections.abc import Iterable

from hedgerow.wire import COMMAND_DUMP, COMMAND_FINISH, COMMAND_START, COMMAND_STOP, Command
from hedgerow_operator.api.times import parse_optional_time
from hedgerow_operator.core.fencing import forceable, placing_wait
from hedgerow_operator.core.ladder import FAIL, unexpired
from hedgerow_operator.core.plan import (
    BUSY_INTERVAL_SECONDS,
    CALM_INTERVAL_SECONDS,
    Action,
    CreatePlacement,
    DeleteJob,
    Orders,
    RemovePlacement,
)
from hedgerow_operator.core.seen import WORKER_PENDING, WORKER_RUNNING, PlacementSeen
from hedgerow_operator.core.step import ENDED, PLACING, REMOVING, RUNNING, STARTING, STOPPING, Context
from hedgerow_operator.core.verdict import Kind

# Workers of an ended job that do not leave by themselves (their launcher is not heard) are removed after this.
LINGER_SECONDS = 60.0
# Containers beside the launchers of an ended job, which may never end by themselves, get this long for their last work.
BESIDE_SECONDS = 10.0
# How often a launcher is sure to hear of its attempt within the time after which it stops itself.
INTERVALS_PER_FENCE = 4.0
# A placement that names more would be too large for the API server, which would end the job.
MOST_AVOIDED = 1000

_REPLACED = "another placement is current"


def actions_for(context: Context) -> tuple[Action, ...]:
    """Placements to create and remove. Nothing while it is not known what exists."""
    if context.seen.placements is None:
        return ()
    status = context.status
    others = [entry for entry in context.seen.placements if entry.attempt != status.placement]
    actions: list[Action] = [*_remove_all(context, others)]
    current = context.gang.placement
    if status.attempt_stage == PLACING and not others and current is None and _may_place(context):
        actions.append(CreatePlacement(attempt=status.placement, excluded_nodes=_avoided(context)))
    gone_by_now = status.attempt_stage == REMOVING or (status.attempt_stage == ENDED and _lingers(context))
    if current is not None and (gone_by_now or (status.attempt_stage == PLACING and current.removing)):
        actions += _remove_all(context, [current])
    if _expired(context):
        actions.append(DeleteJob())
    return tuple(actions)


def orders_for(context: Context) -> Orders:
    """How the launchers are answered while this status stands."""
    status = context.status
    live = status.attempt_stage in (STARTING, RUNNING)
    productive = status.incident is None and status.ledger.idle_since_millis is None
    calm = (status.attempt_stage == RUNNING and productive) or status.attempt_stage == ENDED
    return Orders(
        placement=status.placement,
        attempt=status.attempt if live else 0,
        fenced=status.fenced_attempt,
        commands=dict.fromkeys(range(context.gang.workers), tuple(_commands(context))),
        stop_others=Command(kind=COMMAND_STOP, attempt=status.attempt, kill=True, reason=_REPLACED),
        deadlines=dict(context.early_limits),
        spoken_for=live and context.gang.sums.speaks and context.early_verdict.kind is Kind.HEALTHY,
        interval_seconds=_interval(calm, float(context.job.spec.recovery.fence_seconds)),
    )


def _interval(calm: bool, fence_seconds: float) -> float:
    """A launcher whose peers are gone lives by its own answers. Each may be held for an interval and the next one for
    another, so several must fit into the fence time."""
    return min(CALM_INTERVAL_SECONDS if calm else BUSY_INTERVAL_SECONDS, fence_seconds / INTERVALS_PER_FENCE)


def _commands(context: Context) -> Iterable[Command]:
    status, spec = context.status, context.job.spec
    if status.attempt_stage == STARTING:
        start = _start(context)
        if start:
            yield start
    if status.attempt_stage == RUNNING and status.incident and status.incident.attempt == status.attempt:
        yield Command(kind=COMMAND_DUMP, attempt=status.attempt)
    if status.attempt_stage in (STOPPING, REMOVING) and status.stopping:
        yield Command(kind=COMMAND_STOP, attempt=status.attempt, reason=status.stopping.reason,
                      kill=status.stopping.kill, grace_seconds=float(spec.grace_seconds))
    if status.attempt_stage == ENDED:
        failed = status.stopping is not None and status.stopping.action == FAIL
        yield Command(kind=COMMAND_FINISH, attempt=status.attempt, exit_code=1 if failed else 0)


def _start(context: Context) -> Command | None:
    """The start of the attempt: worker 0 has proposed the port, its address is the master's."""
    gang = context.gang
    first = gang.report(0)
    if first is None:
        return None
    # A launcher that has begun holds the port: it stays the attempt's, whatever worker 0 proposes since.
    begun = next((report.master_port for worker in range(gang.workers)
                  if (report := gang.report(worker)) and report.attempt == context.status.attempt), 0)
    peers = [report.peer_address for worker in range(gang.workers) if (report := gang.report(worker))]
    worker = gang.worker(0)
    return Command(
        kind=COMMAND_START,
        attempt=context.status.attempt,
        resume_from=context.status.resume_from,
        master_address=(worker.address if worker and worker.address else first.address),
        master_port=begun or context.job.spec.master_port or first.free_port,
        nonce=first.nonce,
        peers=peers,
        grace_seconds=float(context.job.spec.recovery.grace_seconds),
    )


def _avoided(context: Context) -> tuple[str, ...]:
    """Nodes that this job avoids, then those that every job does."""
    own = tuple(entry.name for entry in unexpired(context.status.excluded_nodes, context.now))
    return (*own, *sorted(set(context.seen.avoided) - set(own))[:MOST_AVOIDED])


def _may_place(context: Context) -> bool:
    return not context.job.spec.suspend and placing_wait(context) <= 0


def _remove_all(context: Context, placements: Iterable[PlacementSeen]) -> list[Action]:
    return [action for placement in placements for action in _remove(context, placement)]


def _remove(context: Context, placement: PlacementSeen) -> list[Action]:
    """Asked once; again only for workers that were not reached, and by force for those that can be."""
    force: tuple[str, ...] = ()
    if context.gang.placement is placement:
        force = _forceable(context)
    unasked = any(not worker.terminating for worker in placement.workers)
    if placement.removing and not unasked and not force:
        return []
    return [RemovePlacement(attempt=placement.attempt, force=force)]


def _forceable(context: Context) -> tuple[str, ...]:
    if not context.seen.fences_by_time:
        return ()
    fenced_for = None if context.status.fenced_at is None else context.seen.stage_seconds
    return forceable(context.gang, float(context.job.spec.recovery.fence_seconds), fenced_for)


def _lingers(context: Context) -> bool:
    """Whether something of an ended job is left that does not end by itself, and holds its room."""
    ended = parse_optional_time(context.status.completion_time)
    if ended is None:
        return False
    if _any_alive(context):
        return context.now - ended > LINGER_SECONDS
    workers = context.gang.placement.workers if context.gang.placement else ()
    return any(worker.beside for worker in workers) and context.now - ended > BESIDE_SECONDS


def _any_alive(context: Context) -> bool:
    workers = context.gang.placement.workers if context.gang.placement else ()
    return any(worker.phase in (WORKER_RUNNING, WORKER_PENDING) for worker in workers)


def _expired(context: Context) -> bool:
    """Not before its launchers have left: nobody would answer them any more."""
    ttl, ended = context.job.spec.ttl_seconds_after_finished, parse_optional_time(context.status.completion_time)
    if context.status.attempt_stage != ENDED or ttl is None or ended is None or _any_alive(context):
        return False
    return context.now >= ended + ttl
