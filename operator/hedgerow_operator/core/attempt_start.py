"""From a new job to ranks that are told to start: placing, gathering the gang, waiting out the backoff."""

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import Ledger, Stopping
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core import phrases
from hedgerow_operator.core.attempt_stop import begin_stop, give_up
from hedgerow_operator.core.fencing import placing_wait, start_wait
from hedgerow_operator.core.ladder import NEW_PLACEMENT, backoff_seconds, give_back, jitter, unexpired
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.resume import choose_checkpoint, judge_progress, ready_scans
from hedgerow_operator.core.step import GATHERING, PLACING, STARTING, STOPPING, SUSPENDED, Context, Step
from hedgerow_operator.core.trouble import find_trouble

# Gangs that failed to get room together come back spread over this many seconds.
GANG_RETRY_SECONDS = 30.0
# A placement that is not taken without the nodes that are avoided is tried again so often: exclusions expire.
LOOK_AGAIN_SECONDS = 15.0


def new_job(context: Context) -> Step:
    """A job that was never seen before."""
    step = Step(status=context.status)
    if context.job.spec.suspend:
        return step.then(attempt_stage=SUSPENDED)
    return step.then(attempt=1, placement=1, attempt_stage=PLACING)


def placing(context: Context) -> Step:
    """The placement is being created, once the one before is gone."""
    step, placement = Step(status=context.status), context.gang.placement
    if placement is None or placement.removing or len(context.seen.placements or ()) > 1:
        wait = placing_wait(context)
        return step.then(look_again=wait) if wait > 0 else step
    message = f"workers of attempt {context.status.attempt} are being placed"
    return step.then(Event(reason=reasons.PLACEMENT_CREATED, message=message), attempt_stage=GATHERING)


def gathering(context: Context) -> Step:
    """Waiting until every worker's launcher is there with no rank alive, then choosing where to start from."""
    step = Step(status=context.status)
    if context.seen.placements is None:
        return step
    trouble = find_trouble(context.gang, starting=False, running=False)
    if trouble:
        return begin_stop(context, trouble, started=False)
    taken_down = _no_room(context)
    if taken_down:
        return taken_down
    scans = ready_scans(context)
    if scans is None:
        return step
    step = judge_progress(context, scans)
    if step.status.progress_judged != context.status.progress_judged:
        return _after_judgement(context, step)
    wait = start_wait(context)
    return step.then(look_again=wait) if wait > 0 else _begin(context, choose_checkpoint(step, scans))


def _after_judgement(context: Context, step: Step) -> Step:
    """Gives up, or sets the time of the next start: at once after an attempt that brought a newer checkpoint."""
    no_progress, spec = step.status.no_progress, context.job.spec
    if no_progress >= spec.recovery.no_progress_limit:
        last = step.status.history[-1].message
        message = f"{no_progress} attempts in a row brought no newer checkpoint; the last one ended: {last}"
        return give_up(context, step, reasons.NO_CHECKPOINT_PROGRESS, message)
    # Without checkpoints no attempt can bring a newer one: the first restart is at once, the others are not.
    fruitless = no_progress if spec.checkpoint else max(0, step.status.restarts_counted - 1)
    wait = backoff_seconds(spec, fruitless) if step.status.history[-1].counted else 0.0
    return step.then(next_start_at=format_time(context.now + wait) if wait else None, look_again=wait)


def _begin(context: Context, step: Step) -> Step:
    status = step.status
    origin = f"from step {status.resume_step}" if status.resume_from else "from the beginning"
    ledger = status.ledger if status.start_time else Ledger(idle_since_millis=round(context.now * 1000))
    return step.then(
        Event(reason=reasons.ATTEMPT_STARTED, message=f"attempt {status.attempt} starts {origin}"),
        attempt_stage=STARTING,
        attempt_started_at=context.moment,
        next_start_at=None,
        start_time=status.start_time or context.moment,
        ledger=ledger,
    )


def without_weakest(context: Context) -> Step:
    """No placement is taken without the nodes that are avoided. Nothing was placed, so nothing has to be taken down."""
    step, limits = Step(status=context.status), context.job.spec.recovery.exclude
    excluded = unexpired(context.status.excluded_nodes, context.now)
    weakest = give_back(excluded)
    left = limits.max_wait_seconds - context.seen.stage_seconds
    if weakest is None or left > 0:
        return step.then(look_again=LOOK_AGAIN_SECONDS if weakest is None else min(LOOK_AGAIN_SECONDS, left))
    kept = tuple(entry for entry in excluded if entry is not weakest)
    message = f"no room without node {weakest.name} ({weakest.reason}); it may be used again: {context.seen.too_tight}"
    event = Event(reason=reasons.EXCLUSION_TOO_TIGHT, message=message, warning=True)
    return step.then(event, excluded_nodes=kept, look_again=0.0)


def _no_room(context: Context) -> Step | None:
    """A gang that is partly placed must not hold its nodes for ever; exclusions must not starve it."""
    placement = context.gang.placement
    workers = placement.workers if placement else ()
    waiting = [worker for worker in workers if worker.unschedulable]
    if placement is None or not waiting:
        return None
    excluded = unexpired(context.status.excluded_nodes, context.now)
    weakest = give_back(excluded)
    if weakest and placement.age_seconds >= context.job.spec.recovery.exclude.max_wait_seconds:
        kept = tuple(entry for entry in excluded if entry is not weakest)
        message = f"no room without node {weakest.name} ({weakest.reason}); it may be used again"
        return _take_down(context, reasons.EXCLUSION_TOO_TIGHT, message, 0.0).then(excluded_nodes=kept)
    freed = sorted(set(placement.avoided) - {entry.name for entry in excluded} - set(context.seen.avoided))
    if freed:
        message = f"no room was found without node {', '.join(freed)}, which may be used again"
        return _take_down(context, reasons.EXCLUSION_ENDED, message, 0.0)
    partly = any(worker.node for worker in workers) and not any(worker.pulling for worker in workers)
    if not partly or placement.age_seconds < context.job.spec.health.gang_timeout_seconds:
        return None
    wait = GANG_RETRY_SECONDS * jitter(context.job.metadata.uid, round(placement.age_seconds))
    message = f"{phrases.workers(worker.index for worker in waiting)} found no room: {waiting[0].unschedulable}"
    return _take_down(context, reasons.GANG_TIMEOUT, message, wait)


def _take_down(context: Context, reason: str, message: str, wait: float) -> Step:
    stopping = Stopping(action=NEW_PLACEMENT, reason=reason, message=message, since=context.moment,
                        counted=False, started=False)
    step = Step(status=context.status).then(
        Event(reason=reason, message=message, warning=True), attempt_stage=STOPPING, stopping=stopping
    )
    return step.then(next_start_at=format_time(context.now + wait)) if wait else step
