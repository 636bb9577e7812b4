"""Deadlines of a job whose pauses recur: tight between them, and as long as they take when one is due."""

from collections.abc import Sequence

from hedgerow.wire import PHASE_STEP
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core.durations import Phases
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.pause import Pause, Pauses
from hedgerow_operator.core.pauses import allowed, apart


def without_pauses(learned: Phases, pauses: Sequence[Pause]) -> Phases:
    """``learned``, the steps without the pauses that can be told apart."""
    if not pauses or PHASE_STEP not in learned:
        return learned
    return {**learned, PHASE_STEP: apart(Pauses(tuple(pauses)), learned[PHASE_STEP])}


def with_due_pause(limits: dict[str, float], due: float) -> dict[str, float]:
    """``limits`` by phase, that of a step no shorter than a pause that is due now."""
    if due <= limits.get(PHASE_STEP, float("inf")):
        return limits
    return {**limits, PHASE_STEP: due}


def due_pause(pauses: Sequence[Pause], gang: Gang, health: HealthSpec, started: float | None, now: float) -> float:
    """Seconds that the interval between steps which goes on may last as one of ``pauses``; 0.0: none is due.

    started: when the attempt began, seconds since the epoch as ``now`` and the times of the pauses.
    """
    age = gang.sums.oldest.get(PHASE_STEP) if pauses else None
    if age is None:
        return 0.0
    seconds = allowed(Pauses(tuple(pauses)), now - age, gang.step, gang.attempt, started)
    return min(seconds, float(health.stall.max_seconds))
