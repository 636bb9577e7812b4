"""The decision on one TrainingJob: a pure function of the job as stored, what was seen, and ``now``."""

from collections.abc import Callable

import msgspec

from hedgerow_operator.api import reasons
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS, ANNOTATION_LEARNED_PACE
from hedgerow_operator.api.status import Stopping
from hedgerow_operator.api.times import parse_optional_time, parse_time
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.attempt_actions import actions_for, orders_for
from hedgerow_operator.core.attempt_end import finished
from hedgerow_operator.core.attempt_run import running
from hedgerow_operator.core.attempt_start import gathering, new_job, placing, without_weakest
from hedgerow_operator.core.attempt_stop import begin_plain_stop, removing, stopping, suspended
from hedgerow_operator.core.deadlines import deadlines
from hedgerow_operator.core.degraded import follow, ordered_by_alert
from hedgerow_operator.core.durations import Learned, decode_learned, encode_learned, merge, observe, worth_storing
from hedgerow_operator.core.early_watch import early_limits
from hedgerow_operator.core.gang import Gang, gather
from hedgerow_operator.core.ladder import FAIL, SUSPEND, unexpired
from hedgerow_operator.core.pause_deadlines import due_pause, with_due_pause, without_pauses
from hedgerow_operator.core.plan import Event, Plan
from hedgerow_operator.core.seen import Seen
from hedgerow_operator.core.step import (
    ENDED,
    GATHERING,
    PLACING,
    REMOVING,
    RUNNING,
    STARTING,
    STOPPING,
    SUSPENDED,
    Context,
    Step,
)
from hedgerow_operator.core.summary import summarize, with_progress
from hedgerow_operator.core.watching.baseline import decode_baseline, encode_baseline, worth_keeping
from hedgerow_operator.core.watching.signs import Signs

# Without anything new, a live job is looked at this often.
RESYNC_SECONDS = 15.0

_STAGES: dict[str, Callable[[Context], Step]] = {
    "": new_job,
    PLACING: placing,
    GATHERING: gathering,
    STARTING: running,
    RUNNING: running,
    STOPPING: stopping,
    REMOVING: removing,
    SUSPENDED: suspended,
    ENDED: lambda context: Step(status=context.status),
}


def decide(job: TrainingJob, seen: Seen, now: float) -> Plan:
    """What to do, what to write and what to tell. ``now``: seconds since the epoch."""
    gang = gather(job, seen)
    stored = decode_learned(job.metadata.annotations.get(ANNOTATION_LEARNED_DURATIONS))
    learned = _learn(stored, gang, seen.signs)
    phases = learned.phases()
    usual = without_pauses(phases, learned.pauses)
    started = parse_optional_time(job.status.attempt_started_at)
    due = due_pause(learned.pauses, gang, job.spec.health, started, now)
    progressed = msgspec.structs.replace(job, status=with_progress(job.status, gang, phases))
    limits = deadlines(usual, job.spec.health, job.spec.ranks)
    context = Context(
        job=progressed, seen=seen, gang=gang, now=now, learned=phases,
        deadlines=with_due_pause(limits, due),
        early_limits=with_due_pause(early_limits(usual, job.spec.health, job.spec.ranks, limits), due),
    )
    step = _ordered_stop(context) or ordered_by_alert(context) or _STAGES[job.status.attempt_stage](context)
    step = _without_expired(context, follow(context, step))
    return Plan(
        status=summarize(context, step.status),
        actions=actions_for(context),
        orders=orders_for(context),
        learned=encode_learned(learned) if worth_storing(stored, learned) else None,
        pace=_pace(job, seen),
        events=step.events,
        requeue_after=_next_look(context, step),
    )


def refused(job: TrainingJob, message: str, now: float) -> Plan:
    """The placement can never be created: the job fails with the reason, instead of trying for ever."""
    seen = Seen(placements=())
    context = Context(job=job, seen=seen, gang=gather(job, seen), now=now, learned={}, deadlines={})
    plan = Stopping(action=FAIL, reason=reasons.NO_VALID_PLACEMENT, message=message, since=context.moment,
                    counted=False, started=False)
    status = msgspec.structs.replace(
        job.status, attempt_stage=ENDED, stopping=plan, completion_time=context.moment, incident=None
    )
    event = Event(reason=reasons.NO_VALID_PLACEMENT, message=message, warning=True)
    return Plan(status=summarize(context, status), orders=orders_for(context), events=(event,))


def too_tight(job: TrainingJob, seen: Seen, now: float) -> Plan:
    """The placement cannot be made without the nodes that are avoided. After a while the exclusion with the weakest
    evidence is given back; where there is none, the job waits until one expires.
    """
    context = Context(job=job, seen=seen, gang=gather(job, seen), now=now, learned={}, deadlines={})
    step = without_weakest(context)
    return Plan(
        status=summarize(context, step.status), orders=orders_for(context), events=step.events,
        requeue_after=step.look_again,
    )


def _without_expired(context: Context, step: Step) -> Step:
    """An exclusion that is over is not listed any more. What is told of a job that has ended stays."""
    kept = unexpired(step.status.excluded_nodes, context.now)
    if step.status.attempt_stage == ENDED or kept == step.status.excluded_nodes:
        return step
    return step.then(excluded_nodes=kept)


def _learn(stored: Learned, gang: Gang, signs: Signs | None) -> Learned:
    """What the job has shown, with the durations of the running attempt as far as they are heard."""
    if signs is not None and signs.pauses is not None:
        stored = msgspec.structs.replace(stored, pauses=signs.pauses)
    if signs is not None and signs.durations:
        return observe(stored, gang.attempt, signs.durations)
    parts = [
        heard.report.durations for heard in gang.launchers.values() if heard.report.attempt == gang.attempt
    ]
    return observe(stored, gang.attempt, merge(parts)) if any(parts) else stored


def _pace(job: TrainingJob, seen: Seen) -> str | None:
    if seen.signs is None:
        return None
    stored = decode_baseline(job.metadata.annotations.get(ANNOTATION_LEARNED_PACE))
    return encode_baseline(seen.signs.baseline) if worth_keeping(stored, seen.signs.baseline) else None


def _ordered_stop(context: Context) -> Step | None:
    """Suspension and the active deadline end whatever runs."""
    stage, spec, start = context.status.attempt_stage, context.job.spec, context.status.start_time
    if stage not in (PLACING, GATHERING, STARTING, RUNNING):
        return None
    started = stage in (STARTING, RUNNING)
    if started and finished(context.gang):
        return None
    if spec.suspend:
        return begin_plain_stop(context, SUSPEND, reasons.SUSPENDING, "spec.suspend is true", started)
    limit = spec.active_deadline_seconds
    if limit is not None and start is not None and context.now - parse_time(start) >= limit:
        message = f"the job was active for longer than spec.activeDeadlineSeconds ({limit} s)"
        return begin_plain_stop(context, FAIL, reasons.DEADLINE_EXCEEDED, message, started)
    return None


def _next_look(context: Context, step: Step) -> float | None:
    stage = step.status.attempt_stage
    if stage == ENDED and context.status.attempt_stage == ENDED:
        ttl = context.job.spec.ttl_seconds_after_finished
        placed = bool(context.seen.placements)
        return RESYNC_SECONDS if ttl is not None or placed else None
    if stage == SUSPENDED and context.status.attempt_stage == SUSPENDED:
        return None
    return min(RESYNC_SECONDS, step.look_again) if step.look_again is not None else RESYNC_SECONDS
