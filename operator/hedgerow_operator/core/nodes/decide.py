"""The decision on one GPUNode: a pure function of its status as stored, what was seen, and ``now``."""

import re
from collections.abc import Sequence

import msgspec

from hedgerow.wire_agent import AgentReport
from hedgerow_operator.api import gpu_node, reasons
from hedgerow_operator.api.conditions import FALSE, TRUE, UNKNOWN, find_condition, set_condition
from hedgerow_operator.api.gpu_node import GPUNodeStatus, GPUStatus, Quarantine, Xid
from hedgerow_operator.api.status import Condition, ConditionStatus
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core import phrases
from hedgerow_operator.core.nodes import quarantine
from hedgerow_operator.core.nodes.findings import drain_reason, gpu_table, sentence, worst
from hedgerow_operator.core.nodes.seen import NodePlan, NodeRules, NodeSeen

# Without anything new, a node is looked at this often.
RESYNC_SECONDS = 30.0
_LEAST_LOOK_SECONDS = 1.0
# Clocks of agents are compared with ours through reports that travel for a while.
_SAME_XID_SECONDS = 30.0
_NUMBER = re.compile(r"(?<!GPU )(?<![0-9])[0-9]+(\.[0-9]+)?")


def decide(status: GPUNodeStatus, seen: NodeSeen, rules: NodeRules, now: float) -> NodePlan:
    """What to write. ``now``: seconds since the epoch."""
    if seen.report is not None and seen.age is not None and seen.age <= rules.silent_seconds:
        found = _measured(status, seen.report, rules, now)
    elif seen.listening_seconds <= rules.silent_seconds:
        # Whoever has listened for a moment only has no right to call it silence.
        return NodePlan(status=status, look_again=_look(rules.silent_seconds - seen.listening_seconds))
    else:
        found = _silent(status, seen, rules, now)
    return NodePlan(status=_summed_up(found), look_again=_next_look(found, seen, rules, now))


def _measured(status: GPUNodeStatus, report: AgentReport, rules: NodeRules, now: float) -> GPUNodeStatus:
    kept = quarantine.heard(status.quarantine, report, rules, now)
    gpus = tuple(_unless_news(entry, status.gpus) for entry in gpu_table(report, now))
    healthy = sum(entry.health == gpu_node.HEALTHY for entry in gpus)
    found = (
        _health(report),
        _degraded(report),
        _quarantined(kept),
        Condition(type=gpu_node.UNREACHABLE, status=FALSE, reason=reasons.AGENT_HEARD),
    )
    return msgspec.structs.replace(
        status,
        conditions=_settled(status, found, now),
        gpus=gpus,
        gpus_healthy=f"{healthy}/{max(len(gpus), report.driver.expected or 0)}",
        quarantine=kept,
        drain_reason=drain_reason(report),
        driver_version=report.driver.version,
    )


def _silent(status: GPUNodeStatus, seen: NodeSeen, rules: NodeRules, now: float) -> GPUNodeStatus:
    """Unknown is not sick: nothing is said of the GPUs, and nothing follows but that a quarantine may run out."""
    old = find_condition(status.conditions, gpu_node.HEALTHY)
    since = parse_time(old.last_transition_time) if old and old.status == UNKNOWN else now
    kept = quarantine.unheard(status.quarantine, since, rules, now)
    ours = bool(seen.others) and not _alone(status)
    if ours:
        message = f"{seen.others} agents are silent at once, which is no fault of theirs"
        reach = Condition(type=gpu_node.UNREACHABLE, status=UNKNOWN, reason=reasons.AGENTS_SILENT, message=message)
    else:
        message = f"its agent has said nothing for more than {phrases.seconds(rules.silent_seconds)}"
        reach = Condition(type=gpu_node.UNREACHABLE, status=TRUE, reason=reasons.AGENT_SILENT, message=message)
    found = (
        Condition(type=gpu_node.HEALTHY, status=UNKNOWN, reason=reasons.NOT_MEASURED, message=message),
        Condition(type=gpu_node.DEGRADED, status=UNKNOWN, reason=reasons.NOT_MEASURED),
        _quarantined(kept),
        reach,
    )
    gpus = tuple(
        msgspec.structs.replace(entry, health=gpu_node.NOT_MEASURED, reason="", message="") for entry in status.gpus
    )
    return msgspec.structs.replace(
        status,
        conditions=_settled(status, found, now),
        gpus=gpus,
        gpus_healthy=f"?/{len(gpus)}" if gpus else "",
        quarantine=kept,
        drain_reason=status.drain_reason if kept else None,
    )


def _alone(status: GPUNodeStatus) -> bool:
    """Whether it was silent before the others were."""
    known = find_condition(status.conditions, gpu_node.UNREACHABLE)
    return known is not None and known.status == TRUE


def _health(report: AgentReport) -> Condition:
    first = worst(report.findings)
    if report.health == gpu_node.HEALTHY or first is None:
        known = report.health == gpu_node.HEALTHY
        return Condition(
            type=gpu_node.HEALTHY,
            status=TRUE if known else UNKNOWN,
            reason=reasons.HEALTHY if known else reasons.NOT_MEASURED,
        )
    sick = first.health in (gpu_node.DEGRADED, gpu_node.FAILED)
    status: ConditionStatus = FALSE if sick else UNKNOWN
    message = sentence(report.findings)
    return Condition(type=gpu_node.HEALTHY, status=status, reason=_reason(first.reason), message=message)


def _degraded(report: AgentReport) -> Condition:
    found = [entry for entry in report.findings if entry.health == gpu_node.DEGRADED]
    first = worst(found)
    if first is not None:
        message = sentence(found)
        return Condition(type=gpu_node.DEGRADED, status=TRUE, reason=_reason(first.reason), message=message)
    blind = report.health == gpu_node.NOT_MEASURED
    return Condition(
        type=gpu_node.DEGRADED,
        status=UNKNOWN if blind else FALSE,
        reason=reasons.NOT_MEASURED if blind else reasons.AS_USUAL,
    )


def _quarantined(kept: Quarantine | None) -> Condition:
    if kept is None:
        return Condition(type=gpu_node.QUARANTINED, status=FALSE, reason=reasons.NOT_QUARANTINED)
    message = kept.message if kept.cleared_at is None else f"{kept.message}; not seen any more since {kept.cleared_at}"
    return Condition(type=gpu_node.QUARANTINED, status=TRUE, reason=_reason(kept.reason), message=message)


def _reason(word: str) -> str:
    """The agent's word, where it is one that a condition may carry."""
    return word if word.isascii() and word.isalnum() and word[0].isalpha() else reasons.NOT_MEASURED


def _settled(status: GPUNodeStatus, found: Sequence[Condition], now: float) -> tuple[Condition, ...]:
    conditions = status.conditions
    for new in found:
        old = find_condition(conditions, new.type)
        alike = old is not None and (old.status, old.reason) == (new.status, new.reason)
        if old is None or not alike or _words(old.message) != _words(new.message):
            conditions = set_condition(conditions, new, now)
    return conditions


def _unless_news(new: GPUStatus, known: Sequence[GPUStatus]) -> GPUStatus:
    """The entry as it is, where only numbers in its sentence differ, or when an Xid was by a few seconds."""
    for old in known:
        alike = msgspec.structs.replace(old, message=new.message, xid=new.xid) == new and _same_xid(old.xid, new.xid)
        if alike and _words(old.message) == _words(new.message):
            return old
    return new


def _same_xid(old: Xid | None, new: Xid | None) -> bool:
    if old is None or new is None:
        return old is new
    return old.code == new.code and abs(parse_time(old.since) - parse_time(new.since)) <= _SAME_XID_SECONDS


def _words(message: str) -> str:
    """The sentence without its numbers, which change all the time; that of a GPU stays."""
    return _NUMBER.sub("#", message)


def _summed_up(status: GPUNodeStatus) -> GPUNodeStatus:
    """What matters most, in a word and why."""
    for kind, state in (
        (gpu_node.QUARANTINED, gpu_node.QUARANTINED),
        (gpu_node.UNREACHABLE, gpu_node.UNREACHABLE),
        (gpu_node.DEGRADED, gpu_node.DEGRADED),
    ):
        condition = find_condition(status.conditions, kind)
        if condition is not None and condition.status == TRUE:
            return msgspec.structs.replace(status, state=state, reason=condition.reason)
    health = find_condition(status.conditions, gpu_node.HEALTHY)
    if health is None:
        return status
    state = {TRUE: gpu_node.HEALTHY, FALSE: gpu_node.FAILED}.get(health.status, gpu_node.NOT_MEASURED)
    reason = "" if state == gpu_node.HEALTHY else health.reason
    return msgspec.structs.replace(status, state=state, reason=reason)


def _next_look(status: GPUNodeStatus, seen: NodeSeen, rules: NodeRules, now: float) -> float:
    left = quarantine.seconds_left(status.quarantine, rules, now)
    silence = None if seen.age is None or seen.age > rules.silent_seconds else rules.silent_seconds - seen.age
    return _look(*(when for when in (left, silence) if when is not None))


def _look(*seconds: float) -> float:
    return max(_LEAST_LOOK_SECONDS, min(RESYNC_SECONDS, *seconds, RESYNC_SECONDS))
