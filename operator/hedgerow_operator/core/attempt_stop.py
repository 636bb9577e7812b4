"""From the decision to end an attempt until nothing of it is alive, and what comes then."""

import msgspec

from hedgerow.wire import STAGE_STOPPED, STAGE_WAITING
from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import MAX_HISTORY, HistoryEntry, Stopping
from hedgerow_operator.api.times import format_time, parse_time
from hedgerow_operator.core.attempt_end import reported_finished, succeed
from hedgerow_operator.core.fencing import MARGIN_SECONDS, clock_may_start, last_words_seconds
from hedgerow_operator.core.incidents import off_quarantined
from hedgerow_operator.core.ladder import FAIL, IN_PLACE, NEW_PLACEMENT, SUSPEND, backoff_seconds, exclude, respond
from hedgerow_operator.core.ledger import close_attempt
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.step import ENDED, GATHERING, PLACING, REMOVING, STOPPING, SUSPENDED, Context, Step
from hedgerow_operator.core.trouble import FINAL, Trouble

# Beyond the grace that ranks get, before a launcher that does not confirm is no longer waited for.
CONFIRM_SECONDS = 10.0
# A launcher that was never seen to begin the attempt may have the order to start on its way still. What it says this
# long after the stop was recorded, several reports later, it says without it.
UNSEEN_START_SECONDS = 6.0


def begin_stop(context: Context, trouble: Trouble, started: bool) -> Step:
    """The attempt cannot go on: record how it ends. Nothing is stopped before this is written."""
    stopping = respond(context.job.spec, context.status, off_quarantined(context, trouble), started, context.now)
    excluded = context.status.excluded_nodes
    if context.seen.fences_by_time:  # else there is no other node than this machine
        excluded = exclude(context.job.spec, context.status, trouble, context.now)
    events = [Event(reason=stopping.reason, message=stopping.message, warning=trouble.counted)]
    known = {entry.name for entry in context.status.excluded_nodes}
    events += [
        Event(reason=reasons.NODE_EXCLUDED, message=f"node {entry.name} is avoided until {entry.until}", warning=True)
        for entry in excluded if entry.name not in known
    ]
    return Step(status=context.status).then(
        *events, attempt_stage=STOPPING, stopping=stopping, excluded_nodes=excluded
    )


def begin_plain_stop(context: Context, action: str, reason: str, message: str, started: bool) -> Step:
    """Suspension and deadlines: ended by order, with grace, not counted."""
    stopping = Stopping(action=SUSPEND if action == SUSPEND else FAIL, reason=reason, message=message,
                        since=context.moment, counted=False, started=started)
    return Step(status=context.status).then(
        Event(reason=reason, message=message, warning=action == FAIL), attempt_stage=STOPPING, stopping=stopping
    )


def give_up(context: Context, step: Step, reason: str, message: str) -> Step:
    """The job fails with no rank alive: nothing has to be stopped."""
    stopping = Stopping(action=FAIL, reason=reason, message=message, since=context.moment, counted=False, started=False)
    return step.then(
        Event(reason=reason, message=message, warning=True), attempt_stage=ENDED, stopping=stopping,
        completion_time=context.moment, incident=None,
    )


def stopping(context: Context) -> Step:
    """Launchers are told to stop; goes on when all have confirmed, or when confirmation cannot come."""
    plan, step = context.status.stopping, Step(status=context.status)
    if plan is None:
        return step.then(attempt_stage=REMOVING)
    if plan.started and reported_finished(context.gang):
        return succeed(context)
    plan, step = _called_off(context, plan, step)
    if context.job.spec.suspend and plan.action in (IN_PLACE, NEW_PLACEMENT):
        plan = msgspec.structs.replace(plan, action=SUSPEND)
        step = step.then(stopping=plan)
    if not plan.started and plan.action != FAIL:
        # Nobody was told to start: nothing has to be confirmed.
        return _remove(context, step, plan)
    if all(_stopped(context, plan, worker) for worker in range(context.gang.workers)):
        return _confirmed(context, step, plan)
    if context.seen.placements is None:
        return step
    limit = CONFIRM_SECONDS + (0.0 if plan.kill else context.job.spec.grace_seconds)
    left = max(limit - (context.now - parse_time(plan.since)), CONFIRM_SECONDS - context.seen.listening_seconds)
    if left > 0 and not _hopeless(context):
        return step.then(look_again=left)
    return _remove(context, step, plan)


def removing(context: Context) -> Step:
    """The placement is being removed; goes on when nothing of it is left."""
    plan, step = context.status.stopping, Step(status=context.status)
    if context.seen.placements is None:
        return step
    if plan is not None:
        plan, step = _called_off(context, plan, step)
    if context.gang.placement is not None:
        late = context.status.fenced_at is None and clock_may_start(context.gang)
        return step.then(fenced_at=context.moment) if late else step
    if plan is None:
        return _suspended(context, step, plan)
    if plan.action == FAIL:
        return _ended(context, step)
    step = _let_them_end(context, step, plan)
    if plan.action == SUSPEND or context.job.spec.suspend:
        return _suspended(context, step, plan)
    return _next_attempt(context, step, plan, PLACING)


def _let_them_end(context: Context, step: Step, plan: Stopping) -> Step:
    """Pods that somebody deletes by force are gone at once, and their ranks only after their grace. Unless every
    launcher has said that nothing lives, or the fence has run out, the next placement waits for that.
    """
    gang, grace = context.gang, float(context.job.spec.grace_seconds)
    if not (plan.started and context.seen.fences_by_time) or _fence_over(context):
        return step
    if all((report := gang.report(worker)) and report.stage in (STAGE_STOPPED, STAGE_WAITING)
           for worker in range(gang.workers)):
        return step
    return step.then(next_start_at=format_time(context.now + last_words_seconds(grace)))


def _fence_over(context: Context) -> bool:
    fence = context.job.spec.recovery.fence_seconds + MARGIN_SECONDS
    return context.status.fenced_at is not None and context.seen.stage_seconds >= fence


def _called_off(context: Context, plan: Stopping, step: Step) -> tuple[Stopping, Step]:
    """Whoever ends the placement for good while the next attempt is on its way wants none."""
    placement = context.gang.placement
    if placement is None or placement.cause not in FINAL or plan.action not in (IN_PLACE, NEW_PLACEMENT):
        return plan, step
    plan = msgspec.structs.replace(plan, action=FAIL, reason=placement.cause, message=placement.ended_reason)
    event = Event(reason=placement.cause, message=placement.ended_reason)
    return plan, step.then(event, stopping=plan)


def suspended(context: Context) -> Step:
    """Nothing runs until the spec says so."""
    step = Step(status=context.status)
    if context.job.spec.suspend:
        return step
    attempt = context.status.attempt + 1
    message = f"attempt {attempt} will start"
    return step.then(
        Event(reason=reasons.RESUMED, message=message),
        attempt=attempt, placement=attempt, attempt_stage=PLACING, stopping=None, restarts=attempt - 1,
    )


def _stopped(context: Context, plan: Stopping, worker: int) -> bool:
    """Whether nothing of the attempt can be alive at this worker: its launcher says so now, or it is over."""
    gang, heard = context.gang, context.gang.launchers.get(worker)
    if gang.ended(worker):
        return True
    if heard is None or worker not in gang.fresh:
        return False
    if heard.report.stage not in (STAGE_STOPPED, STAGE_WAITING):
        return False
    if not plan.started or heard.report.attempt >= gang.attempt:
        return True
    return context.seen.stage_seconds - heard.age >= UNSEEN_START_SECONDS


def _hopeless(context: Context) -> bool:
    """A worker that is gone, or that cannot be asked, will not confirm."""
    gang = context.gang
    for worker in range(gang.workers):
        seen = gang.worker(worker)
        if seen is None or (worker not in gang.fresh and (seen.node_silent or seen.node_gone)):
            return True
    return False


def _confirmed(context: Context, step: Step, plan: Stopping) -> Step:
    """Every rank is gone. In place only if every launcher can carry the next attempt."""
    gang = context.gang
    whole = gang.placement is not None and not gang.placement.removing and not gang.placement.ended
    able = whole and all(
        worker in gang.fresh and (seen := gang.worker(worker)) is not None and not seen.terminating
        for worker in range(gang.workers)
    )
    if plan.action == FAIL:
        return _ended(context, step)
    if plan.action == IN_PLACE and context.seen.placements is None:
        return step
    if plan.action == IN_PLACE and able:
        return _next_attempt(context, step, plan, GATHERING)
    return _remove(context, step, plan)


def _remove(context: Context, step: Step, plan: Stopping) -> Step:
    """Recorded as fenced in the same write: from then on every launcher of the attempt is answered stop."""
    action = NEW_PLACEMENT if plan.action == IN_PLACE else plan.action
    return step.then(
        attempt_stage=REMOVING,
        stopping=msgspec.structs.replace(plan, action=action),
        fenced_attempt=context.status.attempt if plan.started else context.status.fenced_attempt,
        fenced_at=context.moment if clock_may_start(context.gang) else None,
    )


def _next_attempt(context: Context, step: Step, plan: Stopping, stage: str) -> Step:
    status = context.status
    closed = _closed(context, step, plan)
    attempt = status.attempt + (1 if plan.started else 0)
    if plan.counted and not plan.started:
        # Workers that fail before they can start (a broken image, say) must not be made anew without end or pause.
        wait = backoff_seconds(context.job.spec, status.restarts_counted + 1)
        closed = closed.then(next_start_at=format_time(context.now + wait))
    return closed.then(
        attempt=attempt,
        placement=attempt if stage == PLACING else status.placement,
        attempt_stage=stage,
        stopping=None,
        attempt_started_at=None,
        fenced_at=None,
        restarts=status.restarts + (1 if plan.started else 0),
        restarts_counted=status.restarts_counted + (1 if plan.counted else 0),
    )


def _suspended(context: Context, step: Step, plan: Stopping | None) -> Step:
    """The number of the last attempt that was started stays; the next one takes the number after it."""
    started = plan is not None and plan.started
    closed = _closed(context, step, plan) if plan else step
    attempt = context.status.attempt if started else context.status.attempt - 1
    counted = context.status.restarts_counted + (1 if plan is not None and plan.counted else 0)
    return closed.then(
        attempt=attempt, attempt_stage=SUSPENDED, stopping=None, incident=None, fenced_at=None,
        restarts=max(0, attempt - 1), restarts_counted=counted,
    )


def _ended(context: Context, step: Step) -> Step:
    plan = context.status.stopping
    closed = _closed(context, step, plan) if plan else step
    return closed.then(attempt_stage=ENDED, completion_time=context.moment, incident=None)


def _closed(context: Context, step: Step, plan: Stopping) -> Step:
    """The ended attempt in the history, and its lost time in the ledger."""
    status = step.status
    if not plan.started:
        return step
    incident = status.incident if status.incident and status.incident.attempt == status.attempt else None
    entry = HistoryEntry(
        attempt=status.attempt,
        placement=status.placement,
        reason=plan.reason,
        message=plan.message,
        started_at=status.attempt_started_at,
        ended_at=context.moment,
        from_step=status.resume_step,
        last_step=status.step,
        ranks=incident.ranks if incident else (),
        node=incident.node if incident else None,
        fault=plan.fault,
        fault_class=incident.fault_class if incident else "Unknown",
        counted=plan.counted,
    )
    ledger = close_attempt(status.ledger, context.gang, context.now)
    return step.then(history=(*status.history, entry)[-MAX_HISTORY:], ledger=ledger)
