"""How long a phase may show no progress, from what this job has shown and what its spec says."""

from hedgerow.wire import PHASE_CHECKPOINT, PHASE_ENDING, PHASE_EVAL, PHASE_FIRST_STEP, PHASE_INIT, PHASE_STEP
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core.durations import Histogram, Phases, count, longest, quantile

# A step deadline lies as far beyond the 99th percentile as that lies beyond the median (4.7 standard deviations of a
# log-normal pace), within these bounds.
LEAST_TAIL, MOST_TAIL = 1.5, 2.5
LONGEST_FACTOR = 1.5  # of the longest that was ever finished: it may come again
# Start-up and saving vary more than steps do (caches, storage, queues).
RARE_PHASE_FACTOR = 3.0
# With n samples a deadline is widened by 1 + SCARCITY / n.
SCARCITY = 8.0
STEP_SCARCITY = 3.0
# Ranks that wait for others to exit: longer than any orderly shutdown, shorter than a night.
ENDING_SECONDS = 600.0

_START_PHASES = (PHASE_INIT, PHASE_FIRST_STEP)


def deadline(phase: str, learned: Phases, health: HealthSpec, ranks: int) -> float:
    """Seconds without progress after which ``phase`` is overdue.

    A phase that the spec names has the spec's limit. ``ranks``: ranks that were measured together; their samples of
    one step are one sample, since they wait for each other.
    """
    named = next((entry.max_seconds for entry in health.phases if entry.name == phase), None)
    if named is not None:
        return float(named)
    if phase == PHASE_ENDING:
        return min(ENDING_SECONDS, float(health.stall.max_seconds))
    limit = float(health.startup_timeout_seconds if phase in _START_PHASES else health.stall.max_seconds)
    histogram = learned.get(phase, {})
    samples = count(histogram) / max(1, ranks)
    if samples < 1:
        return limit
    if phase == PHASE_STEP:
        base, scarcity = _step_base(histogram), STEP_SCARCITY
    else:
        base, scarcity = RARE_PHASE_FACTOR * longest(histogram), SCARCITY
    return min(max(base * (1 + scarcity / samples), float(health.stall.min_seconds)), limit)


def deadlines(learned: Phases, health: HealthSpec, ranks: int) -> dict[str, float]:
    """The deadline of every phase that is known by name: the usual ones, the learned ones, the spec's."""
    usual = {PHASE_INIT, PHASE_FIRST_STEP, PHASE_STEP, PHASE_CHECKPOINT, PHASE_EVAL, PHASE_ENDING}
    names = usual | set(learned) | {entry.name for entry in health.phases}
    return {name: deadline(name, learned, health, ranks) for name in sorted(names)}


def _step_base(histogram: Histogram) -> float:
    tail, median = quantile(histogram, 0.99), quantile(histogram, 0.5)
    factor = min(MOST_TAIL, max(LEAST_TAIL, tail / median)) if median > 0 else MOST_TAIL
    return max(factor * tail, LONGEST_FACTOR * longest(histogram))
