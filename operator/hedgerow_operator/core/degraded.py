"""Degraded: what is not as it should be while the job goes on. Opens and closes once each; restarts nothing."""

import msgspec

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FALSE, TRUE, UNKNOWN
from hedgerow_operator.api.status import MAX_DEGRADATIONS, Degradation, TrainingJobStatus
from hedgerow_operator.core.attempt_stop import begin_plain_stop
from hedgerow_operator.core.incidents import OBSERVE
from hedgerow_operator.core.ladder import FAIL
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.step import RUNNING, Context, Step
from hedgerow_operator.core.watching.signs import Sign

_PACE = (reasons.SLOWER_THAN_BASELINE, reasons.SLOWER_THAN_PEERS, reasons.COMMUNICATION_SLOW)
# What most deserves the one line that a condition has.
_WEIGHT = (
    reasons.METRIC_ALERT, reasons.MEMORY_GROWING, reasons.SLOWER_THAN_PEERS, reasons.COMMUNICATION_SLOW,
    reasons.SLOWER_THAN_BASELINE, reasons.METRIC_NEVER_SEEN,
)


def ordered_by_alert(context: Context) -> Step | None:
    """An alert whose action is Stop ends the job, with grace."""
    signs = context.seen.signs
    stop = next((sign for sign in signs.signs if sign.stop), None) if signs is not None else None
    if stop is None or context.status.attempt_stage != RUNNING or context.job.spec.recovery.mode == OBSERVE:
        return None
    return begin_plain_stop(context, FAIL, reasons.ALERT_STOP, stop.message, started=True)


def follow(context: Context, step: Step) -> Step:
    """Opens what has begun and closes what is over, each with one event."""
    if context.status.attempt_stage == RUNNING and step.status.attempt_stage == RUNNING:
        return _compare(context, step)
    if step.status.attempt_stage == RUNNING or not step.status.degradations:
        return step
    closed = [_closed(f"attempt {entry.attempt} is over: {entry.message}") for entry in step.status.degradations]
    return step.then(*closed, degradations=())


def condition(context: Context, status: TrainingJobStatus) -> tuple[str, str, str]:
    """Status, reason and message of the condition Degraded."""
    if status.degradations:
        first = min(status.degradations, key=lambda entry: _WEIGHT.index(entry.reason))
        others = [entry.name for entry in status.degradations if entry is not first]
        more = f"; besides: {', '.join(others)}" if others else ""
        value = UNKNOWN if first.reason == reasons.METRIC_NEVER_SEEN else TRUE
        return value, first.reason, f"{first.message}{more}"
    if status.attempt_stage != RUNNING:
        return FALSE, reasons.NOT_MEASURED, "no attempt is running"
    if context.seen.signs is None or not context.seen.signs.judged:
        return UNKNOWN, reasons.NOT_MEASURED, "not enough has been heard of this attempt yet"
    return FALSE, reasons.AS_USUAL, _as_usual(context.seen.signs.judged)


def _as_usual(judged: frozenset[str]) -> str:
    """What of the job is as usual, and what is not known of this attempt (yet): memory only where there is a limit."""
    parts = {"pace": reasons.SLOWER_THAN_BASELINE in judged, "memory": reasons.MEMORY_GROWING in judged,
             "numbers": bool(judged.difference((*_PACE, reasons.MEMORY_GROWING)))}
    known = [name for name, is_known in parts.items() if is_known]
    unknown = [name for name, is_known in parts.items() if not is_known]
    return f"as usual: {', '.join(known)}" + (f"; not measured so far: {', '.join(unknown)}" if unknown else "")


def _compare(context: Context, step: Step) -> Step:
    signs = context.seen.signs
    if signs is None:
        return step
    now = {_trouble(sign.name): sign for sign in signs.signs}
    old = {_trouble(entry.name): entry for entry in step.status.degradations}
    kept = [_kept(context, entry, now.get(name)) for name, entry in old.items()
            if name in now or entry.name not in signs.judged]
    over = [_closed(f"{entry.name} is as usual again; it was not since {entry.opened_at}: {entry.message}")
            for name, entry in old.items() if name not in now and entry.name in signs.judged]
    room = MAX_DEGRADATIONS - len(kept)
    new = [_opened(context, sign) for name, sign in now.items() if name not in old][:room]
    opened = [Event(reason=entry.reason, message=entry.message, warning=True) for entry in new]
    degradations = (*kept, *new)
    if not opened and not over and degradations == step.status.degradations:
        return step
    return step.then(*over, *opened, degradations=degradations)


def _trouble(name: str) -> str:
    """What one incident is about: the pace is one trouble, whatever it is put down to as it goes on."""
    return _PACE[0] if name in _PACE else name


def _opened(context: Context, sign: Sign) -> Degradation:
    return Degradation(
        name=sign.name, reason=sign.reason, message=_message(context, sign), opened_at=context.moment,
        attempt=context.status.attempt, ranks=sign.ranks, nodes=_nodes(context, sign),
    )


def _kept(context: Context, entry: Degradation, sign: Sign | None) -> Degradation:
    """An open one is told as it was opened; only who it is about may become clear later."""
    if sign is None or (sign.reason == entry.reason and (sign.ranks == entry.ranks or not sign.ranks)):
        return entry
    return msgspec.structs.replace(
        entry, reason=sign.reason, ranks=sign.ranks, nodes=_nodes(context, sign), message=_message(context, sign)
    )


def _nodes(context: Context, sign: Sign) -> tuple[str, ...]:
    if not sign.ranks:
        return ()
    named = frozenset(sign.ranks)
    return tuple(sorted({rank.node for rank in context.gang.ranks if rank.rank in named and rank.node}))


def _message(context: Context, sign: Sign) -> str:
    nodes = _nodes(context, sign)
    return f"{sign.message} (on {', '.join(nodes)})" if nodes else sign.message


def _closed(message: str) -> Event:
    return Event(reason=reasons.INCIDENT_CLOSED, message=message)
