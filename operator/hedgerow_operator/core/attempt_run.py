"""A started attempt: is it finished, in trouble, stalled, or fine?"""

import msgspec

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import Incident, TrainingJobStatus
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core import phrases
from hedgerow_operator.core.attempt_end import finished, succeed
from hedgerow_operator.core.attempt_stop import begin_stop
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.ladder import FAIL, IN_PLACE, respond
from hedgerow_operator.core.ledger import progress_seen
from hedgerow_operator.core.patience import remaining, restart_cost, together
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.step import RUNNING, Context, Step
from hedgerow_operator.core.trouble import EXIT_SETTLE_SECONDS, Trouble, find_trouble
from hedgerow_operator.core.verdict import Kind, Verdict

OBSERVE = "Observe"
# Launchers take stacks once a deadline has passed: where a rank stands is worth this wait before it is killed.
STACK_SECONDS = 3.0


def running(context: Context) -> Step:
    """The stages Starting and Running."""
    step = Step(status=context.status)
    if finished(context.gang):
        return succeed(context)
    starting = context.status.attempt_stage != RUNNING
    if starting and all(context.gang.started(worker) for worker in range(context.gang.workers)):
        step = step.then(attempt_stage=RUNNING)
    step = step.then(ledger=progress_seen(context.status.ledger, context.gang, context.now))
    if context.seen.placements is None:
        return step
    trouble = find_trouble(context.gang, starting=True, running=not starting, deadlines=context.deadlines)
    if trouble and not trouble.settled:
        return step.then(look_again=EXIT_SETTLE_SECONDS / 4)
    if trouble:
        return _act(context, step, trouble, _incident(context, trouble))
    return _watch(context, step)


def _watch(context: Context, step: Step) -> Step:
    """Progress against deadlines: opens, acts on and closes the incident of a stall.

    Without decisive evidence nothing is said or done until waiting has cost as much as a restart would.
    """
    verdict = context.verdict
    incident = _open_incident(context)
    if verdict.kind is Kind.STALLED and _stacks_may_come(context, verdict):
        return step.then(look_again=STACK_SECONDS / 10)
    if verdict.kind is Kind.STALLED:
        wait = 0.0 if verdict.decisive or incident else patience_left(context, verdict)
        if wait > 0:
            return step.then(look_again=wait)
        trouble = _stall_trouble(context.gang, verdict)
        return _stalled(context, step, verdict, trouble, incident)
    if incident and verdict.kind is Kind.HEALTHY:
        message = f"progress came back by itself after {phrases.ranks(incident.ranks)} stood still"
        return step.then(Event(reason=reasons.INCIDENT_CLOSED, message=message), incident=None)
    old = context.status.incident
    if old and old.attempt < context.status.attempt and verdict.kind is Kind.HEALTHY and _stepping(context):
        message = f"attempt {context.status.attempt} trains again from step {context.status.resume_step or 0}"
        return step.then(Event(reason=reasons.RECOVERED, message=message), incident=None)
    return step.then(look_again=_next_deadline(context))


def _stacks_may_come(context: Context, verdict: Verdict) -> bool:
    """Whether a guilty rank has no stack yet (while nobody is named: any), and there was no time to take one."""
    if verdict.reason == reasons.RANK_STOPPED:
        return False
    named = frozenset(verdict.ranks)
    missing = any(rank.report.stack is None for rank in context.gang.live if not named or rank.rank in named)
    return missing and verdict.still_seconds < context.deadlines.get(verdict.phase, 0.0) + STACK_SECONDS


def _stalled(context: Context, step: Step, verdict: Verdict, trouble: Trouble, incident: Incident | None) -> Step:
    if incident is None:
        incident = _describe(context, trouble, verdict)
        event = Event(reason=verdict.reason, message=f"{verdict.message}. {incident.action}", warning=True)
        step = step.then(event, incident=incident)
    elif verdict.ranks != incident.ranks:
        incident = msgspec.structs.replace(
            incident, ranks=verdict.ranks, fault_class=verdict.fault_class.value, evidence=verdict.evidence,
            message=verdict.message, node=trouble.node or None,
        )
        step = step.then(incident=incident)
    return _act(context, step, trouble, incident)


def _act(context: Context, step: Step, trouble: Trouble, incident: Incident) -> Step:
    """Ends the attempt; in mode Observe only says so."""
    stop = begin_stop(context, trouble, started=True)
    if context.job.spec.recovery.mode == OBSERVE:
        new = _open_incident(context) is None
        events = (Event(reason=trouble.reason, message=incident.message, warning=True),) if new else ()
        return step.then(*(() if step.events else events), incident=incident)
    plan = stop.status.stopping
    action = _action(plan.action if plan else "", context.status)
    told = bool(step.events) or _open_incident(context) is not None
    return step.then(
        *(event for event in stop.events if not (told and event.reason == trouble.reason)),
        attempt_stage=stop.status.attempt_stage,
        stopping=plan,
        excluded_nodes=stop.status.excluded_nodes,
        incident=msgspec.structs.replace(incident, action=action),
    )


def _action(action: str, status: TrainingJobStatus) -> str:
    if action == FAIL:
        return "giving up"
    place = "in place" if action == IN_PLACE else "in a new placement"
    return f"attempt {status.attempt + 1} starts {place}"


def _stall_trouble(gang: Gang, verdict: Verdict) -> Trouble:
    nodes = {rank.node for rank in gang.ranks if rank.rank in verdict.ranks and rank.node}
    return Trouble(
        reason=verdict.reason,
        message=verdict.message,
        ranks=verdict.ranks,
        node=nodes.pop() if len(nodes) == 1 else "",
        in_place=not gang.silent,
        fault_class=verdict.fault_class,
    )


def patience_left(context: Context, verdict: Verdict) -> float:
    """Seconds for which a stall without decisive evidence is still watched."""
    status = context.status
    saved = status.checkpoint.time if status.checkpoint else status.attempt_started_at
    unsaved = context.now - verdict.still_seconds - parse_time(saved) if saved else 0.0
    cost = restart_cost(context.learned, unsaved)
    if not verdict.ranks:
        acted = [entry for entry in status.history if entry.reason == reasons.NO_PROGRESS and not entry.ranks]
        cost = together(cost, len(acted))
    return remaining(cost, verdict.still_seconds, float(context.job.spec.health.stall.max_seconds))


def _describe(context: Context, trouble: Trouble, verdict: Verdict) -> Incident:
    plan = respond(context.job.spec, context.status, trouble, True, context.now)
    would = "would be: " if context.job.spec.recovery.mode == OBSERVE else ""
    return Incident(
        kind=trouble.reason,
        phase=verdict.phase,
        opened_at=context.moment,
        attempt=context.status.attempt,
        ranks=verdict.ranks,
        node=trouble.node or None,
        reason=verdict.reason,
        fault_class=trouble.fault_class.value,
        message=verdict.message,
        evidence=verdict.evidence,
        action=f"{would}{_action(plan.action, context.status)}",
        act_at=context.moment,
    )


def _incident(context: Context, trouble: Trouble) -> Incident:
    """The incident of a trouble that is not a stall: one that is open for the same attempt is kept."""
    known = _open_incident(context)
    if known and known.kind == trouble.reason:
        return known
    would = "would restart" if context.job.spec.recovery.mode == OBSERVE else ""
    return Incident(
        kind=trouble.reason,
        opened_at=context.moment,
        attempt=context.status.attempt,
        ranks=trouble.ranks,
        node=trouble.node or None,
        reason=trouble.reason,
        fault_class=trouble.fault_class.value,
        message=trouble.message,
        evidence=(trouble.message,),
        action=would,
    )


def _open_incident(context: Context) -> Incident | None:
    incident = context.status.incident
    return incident if incident and incident.attempt == context.status.attempt else None


def _stepping(context: Context) -> bool:
    return context.status.ledger.idle_since_millis is None


def _next_deadline(context: Context) -> float | None:
    """Seconds until the first rank could be overdue if nothing more were heard."""
    oldest = context.gang.sums.oldest.items()
    left = [context.deadlines[phase] - age for phase, age in oldest if phase in context.deadlines]
    return max(0.5, min(left)) if left else None
