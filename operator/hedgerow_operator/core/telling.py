"""When a person is told of a standstill, and when it is acted on: telling costs no restart, so it comes sooner."""

from hedgerow.wire import PHASE_STEP
from hedgerow_operator.api import reasons
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core.durations import count
from hedgerow_operator.core.patience import remaining, restart_cost, together
from hedgerow_operator.core.step import Context
from hedgerow_operator.core.verdict import ALONE_FACTOR, Kind, Verdict

# So many steps are a past.
LEAST_PAST_STEPS = 20


def standstill(context: Context) -> Verdict | None:
    """A standstill with two evidences (or a much longer silence), if there is one: by its deadline, or before it."""
    if context.verdict.kind is Kind.STALLED:
        return context.verdict
    return context.early_verdict if context.early_verdict.kind is Kind.STALLED else None


def tells_in(context: Context, still: Verdict) -> float:
    """Seconds until the incident of a standstill opens: at once where some rank stands out.

    A pause in which all ranks do the same is most often one that the script makes itself: it looks like a hang in every
    way but by its length.
    """
    if still.ranks or still.decisive or still.reason == reasons.RANK_STOPPED:
        return 0.0
    told_after = together(0.0, _acted_together(context))
    return min(max(0.0, told_after - still.still_seconds), acts_in(context, still))


def acts_in(context: Context, still: Verdict) -> float:
    """Seconds until a standstill is acted on if nothing changes: its deadline has to pass, as many times over as the
    evidence asks for, and then patience.
    """
    phases = {still.phase} if still.factor == ALONE_FACTOR else {still.phase, *context.gang.sums.oldest}
    due = still.factor * max(context.deadlines.get(phase, 0.0) for phase in phases)
    wait = 0.0 if at_once(context, still) else patience_left(context, still)
    return max(0.0, due - still.still_seconds, wait)


def at_once(context: Context, still: Verdict) -> bool:
    """Whether waiting could clear nothing up. In its first steps a job fills its caches, and one rank may be late with
    nothing to show for it: before there is a past, only one that is stopped by a signal is sure not to come back.
    """
    if not still.decisive or still.reason == reasons.RANK_STOPPED or still.phase != PHASE_STEP:
        return still.decisive
    return count(context.learned.get(PHASE_STEP, {})) >= LEAST_PAST_STEPS * context.job.spec.ranks


def patience_left(context: Context, verdict: Verdict) -> float:
    """Seconds for which a stall without decisive evidence is still watched."""
    status = context.status
    saved = status.checkpoint.time if status.checkpoint else status.attempt_started_at
    unsaved = context.now - verdict.still_seconds - parse_time(saved) if saved else 0.0
    cost = restart_cost(context.learned, unsaved)
    if not verdict.ranks:
        cost = together(cost, _acted_together(context))
    return remaining(cost, verdict.still_seconds, float(context.job.spec.health.stall.max_seconds))


def _acted_together(context: Context) -> int:
    """How many times a standstill in which nobody stood out ended in a restart."""
    history = context.status.history
    return sum(entry.reason == reasons.NO_PROGRESS and not entry.ranks for entry in history)
