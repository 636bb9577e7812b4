"""The incident of a trouble: what a person is told of it, from its opening to its closing."""

import msgspec

from hedgerow_operator.api.status import Incident, IncidentGPU, Stopping
from hedgerow_operator.api.times import format_time, parse_optional_time
from hedgerow_operator.core import phrases
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.ladder import FAIL, IN_PLACE, last_chance, respond
from hedgerow_operator.core.step import Context
from hedgerow_operator.core.trouble import Trouble
from hedgerow_operator.core.verdict import Verdict

OBSERVE = "Observe"
# Ends what is said of a standstill that is watched before it is acted on.
WATCHED = "unless it comes back"
# A time that moved by less was "about" right.
ABOUT_SECONDS = 3.0


def open_incident(context: Context) -> Incident | None:
    """The incident that is open for the current attempt."""
    incident = context.status.incident
    return incident if incident and incident.attempt == context.status.attempt else None


def incident_of(context: Context, trouble: Trouble, verdict: Verdict | None = None, acts_in: float = 0.0) -> Incident:
    """One that is open goes on as long as it tells the same; else it tells what is known now, and when it opened.

    verdict: of a standstill. acts_in: seconds until it is acted on, unless it comes back.
    """
    known = open_incident(context)
    if known and trouble.consequence and known.ranks:
        # The ranks that stood still were guilty before the others lost their connections.
        return _with_evidence(known, trouble.message)
    if known and _tells_the_same(known, trouble, context.now + acts_in if acts_in else None):
        return known
    return Incident(
        kind=trouble.reason,
        phase=verdict.phase if verdict else known.phase if known else "",
        opened_at=known.opened_at if known else context.moment,
        attempt=context.status.attempt,
        ranks=trouble.ranks,
        node=trouble.node or None,
        gpu=_gpu(context, trouble),
        reason=trouble.reason,
        fault_class=trouble.fault_class.value,
        message=trouble.message,
        evidence=verdict.evidence if verdict else (trouble.message,),
        action=planned(context, trouble, acts_in),
        act_at=format_time(context.now + acts_in),
    )


def _gpu(context: Context, trouble: Trouble) -> IncidentGPU | None:
    """The GPU to look at: the one that failed, else that of the only guilty rank."""
    place = trouble.gpu
    if place is None and len(trouble.ranks) == 1:
        place = context.seen.places.get(trouble.ranks[0])
    if place is None or place.node != trouble.node:
        return None
    return IncidentGPU(index=place.index, uuid=place.uuid, pci=place.pci)


def stall_trouble(gang: Gang, verdict: Verdict) -> Trouble:
    """What a standstill is to the recovery ladder."""
    nodes = {rank.node for rank in gang.named(verdict.ranks) if rank.node}
    return Trouble(
        reason=verdict.reason,
        message=verdict.message,
        ranks=verdict.ranks,
        node=nodes.pop() if len(nodes) == 1 else "",
        in_place=not gang.silent,
        fault_class=verdict.fault_class,
    )


def action_words(context: Context, plan: Stopping) -> str:
    """What follows, as a sentence without its end."""
    if plan.action == FAIL:
        return "the job is given up"
    place = "in place" if plan.action == IN_PLACE else "in a new placement"
    words = f"attempt {context.status.attempt + 1} starts {place}"
    if last_chance(context.job.spec, context.status, plan.counted, plan.started):
        return f"{words} if this one has left a newer checkpoint, else the job is given up"
    return words


def off_quarantined(context: Context, trouble: Trouble) -> Trouble:
    """The trouble, where the next attempt may not start in place since a node of it is to be avoided, or cannot since
    some launcher starts ranks only once.
    """
    if not (trouble.in_place and (context.on_quarantined or context.gang.starts_once)):
        return trouble
    return msgspec.structs.replace(trouble, in_place=False)


def planned(context: Context, trouble: Trouble, acts_in: float) -> str:
    """What will be done about it (in mode Observe: would be), and in about how many seconds."""
    plan = respond(context.job.spec, context.status, off_quarantined(context, trouble), True, context.now)
    would = "would be: " if context.job.spec.recovery.mode == OBSERVE else ""
    words = f"{would}{action_words(context, plan)}"
    return f"{words}, at about {phrases.clock(context.now + acts_in)} {WATCHED}" if acts_in > 0 else words


def _tells_the_same(known: Incident, trouble: Trouble, acts_at: float | None) -> bool:
    if (known.kind, known.ranks) != (trouble.reason, trouble.ranks):
        return False
    told = parse_optional_time(known.act_at)
    return acts_at is None or (told is not None and abs(acts_at - told) < ABOUT_SECONDS)


def _with_evidence(known: Incident, more: str) -> Incident:
    if more in known.evidence:
        return known
    return msgspec.structs.replace(known, evidence=(*known.evidence, more))
