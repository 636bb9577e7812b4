"""A started attempt: is it finished, in trouble, stalled, or fine?"""

from collections.abc import Mapping

import msgspec

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import Incident
from hedgerow_operator.core import phrases
from hedgerow_operator.core.attempt_end import finished, succeed
from hedgerow_operator.core.attempt_stop import begin_stop
from hedgerow_operator.core.collectives import is_stale
from hedgerow_operator.core.incidents import OBSERVE, action_words, incident_of, open_incident, stall_trouble
from hedgerow_operator.core.ledger import progress_seen
from hedgerow_operator.core.nodes.blame import behind, standing, trouble_of, verdict_of
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.resume import set_aside
from hedgerow_operator.core.step import RUNNING, Context, Step
from hedgerow_operator.core.telling import acts_in, at_once, patience_left, standstill, tells_in
from hedgerow_operator.core.trouble import EXIT_SETTLE_SECONDS, Trouble, find_trouble
from hedgerow_operator.core.verdict import Kind, Verdict

# A standstill is looked at again after this at the soonest, when nothing new is heard.
LEAST_LOOK_SECONDS = 0.5
# Launchers take stacks once a deadline has passed: where a rank stands is worth this wait before it is killed.
STACK_SECONDS = 3.0


def running(context: Context) -> Step:
    """The stages Starting and Running."""
    step = Step(status=context.status)
    if finished(context.gang):
        return succeed(context)
    starting = context.status.attempt_stage != RUNNING
    if starting and all(context.gang.started(worker) for worker in range(context.gang.workers)):
        step = step.then(*set_aside(context), attempt_stage=RUNNING)
    step = step.then(ledger=progress_seen(context.status.ledger, context.gang, context.now))
    if context.seen.placements is None:
        return step
    if context.gang.placement is not None and context.gang.placement.paused:
        return step  # its standstill says nothing of it
    trouble = find_trouble(context.gang, starting=True, running=not starting, deadlines=context.deadlines)
    if trouble and not trouble.settled:
        return step.then(look_again=EXIT_SETTLE_SECONDS / 4)
    if trouble:
        trouble = behind((*context.blames, *context.marks), trouble)
        return _act(context, step, trouble, incident_of(context, trouble))
    return _watch(context, step)


def _watch(context: Context, step: Step) -> Step:
    """Progress against deadlines: opens, acts on and closes the incident of a stall.

    It is told as soon as there are two evidences. Without a decisive one nothing is done until waiting has cost as much
    as a restart would.
    """
    failed = standing(context.blames, context.early_limits, context.deadlines) or (
        # What others say is of the whole node, and may be about something else: the deadline has to pass.
        standing(context.marks, context.deadlines, context.deadlines)
    )
    if failed is not None:
        verdict = verdict_of(failed)
        trouble = trouble_of(failed, verdict)
        return _act(context, step, trouble, incident_of(context, trouble, verdict))
    verdict = context.verdict
    if verdict.kind is Kind.STALLED and _due(context, verdict):
        trouble = stall_trouble(context.gang, verdict)
        return _act(context, step, trouble, incident_of(context, trouble, verdict))
    still = standstill(context)
    if still is not None:
        return _tell(context, step, still)
    incident = open_incident(context)
    if verdict.kind is not Kind.HEALTHY or (incident and context.early_verdict.kind is not Kind.HEALTHY):
        return step.then(look_again=_next_deadline(context))
    if incident:
        message = f"progress came back by itself after {phrases.ranks(incident.ranks)} stood still"
        return step.then(Event(reason=reasons.INCIDENT_CLOSED, message=message), incident=None)
    old = context.status.incident
    if old and old.attempt < context.status.attempt and _stepping(context):
        message = f"attempt {context.status.attempt} trains again from step {context.status.resume_step or 0}"
        return step.then(Event(reason=reasons.RECOVERED, message=message), incident=None)
    return step.then(look_again=_next_deadline(context))


def _due(context: Context, verdict: Verdict) -> bool:
    """Whether it is time to act on a stall."""
    if _stacks_may_come(context, verdict, context.deadlines) or _collectives_may_come(context, verdict):
        return False
    return at_once(context, verdict) or patience_left(context, verdict) <= 0


def _stacks_may_come(context: Context, verdict: Verdict, limits: Mapping[str, float]) -> bool:
    """Whether a guilty rank has no stack yet (while nobody is named: any), and there was no time to take one."""
    if verdict.reason == reasons.RANK_STOPPED:
        return False
    if verdict.still_seconds >= limits.get(verdict.phase, 0.0) + STACK_SECONDS:
        return False
    gang = context.gang
    if len(gang.sums.places) == gang.sums.live:
        return False
    return any(rank.own.stack is None for rank in (gang.named(verdict.ranks) if verdict.ranks else gang.live))


def _collectives_may_come(context: Context, verdict: Verdict) -> bool:
    """Whether a flight recorder that listens has not told yet where its rank stands, and has had no time to."""
    if verdict.reason == reasons.RANK_STOPPED or verdict.still_seconds >= (
            context.deadlines.get(verdict.phase, 0.0) + 2 * STACK_SECONDS):
        return False
    gang = context.gang
    if not gang.sums.records:
        return False
    waited_for = frozenset(worker for worker in gang.fresh
                           if (report := gang.report(worker)) and (report.dump_age or 0.0) < STACK_SECONDS)
    return any(rank.worker in waited_for and rank.report.records
               and (rank.report.collectives is None or is_stale(rank.report)) for rank in gang.live)


def _tell(context: Context, step: Step, still: Verdict) -> Step:
    """Opens the incident of a standstill that is only watched so far, or tells what has become clear since."""
    if _stacks_may_come(context, still, context.early_limits):
        return step.then(look_again=STACK_SECONDS / 10)
    left = acts_in(context, still)
    look_again = max(LEAST_LOOK_SECONDS, left)
    wait = tells_in(context, still) if open_incident(context) is None else 0.0
    if wait > 0:
        return step.then(look_again=min(wait, look_again))
    incident = incident_of(context, stall_trouble(context.gang, still), still, left)
    return step.then(*_alert(context, incident), incident=incident, look_again=look_again)


def _alert(context: Context, incident: Incident) -> tuple[Event, ...]:
    """The one alert of an incident; none where it is open already."""
    if open_incident(context) is not None:
        return ()
    return (Event(reason=incident.reason, message=f"{incident.message}. {incident.action}", warning=True),)


def _act(context: Context, step: Step, trouble: Trouble, incident: Incident) -> Step:
    """Ends the attempt; in mode Observe only says so."""
    if context.job.spec.recovery.mode == OBSERVE:
        return step.then(*_alert(context, incident), incident=incident)
    stop = begin_stop(context, trouble, started=True)
    plan = stop.status.stopping
    told = open_incident(context) is not None
    action = action_words(context, plan) if plan else ""
    return step.then(
        *(event for event in stop.events if not (told and event.reason == trouble.reason)),
        attempt_stage=stop.status.attempt_stage,
        stopping=plan,
        excluded_nodes=stop.status.excluded_nodes,
        incident=msgspec.structs.replace(incident, action=action, act_at=context.moment),
    )


def _stepping(context: Context) -> bool:
    return context.status.ledger.idle_since_millis is None


def _next_deadline(context: Context) -> float | None:
    """Seconds until the first rank could be overdue if nothing more were heard."""
    oldest = context.gang.sums.oldest.items()
    left = [context.deadlines[phase] - age for phase, age in oldest if phase in context.deadlines]
    return max(LEAST_LOOK_SECONDS, min(left)) if left else None
