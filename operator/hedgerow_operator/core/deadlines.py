"""How long a phase may show no progress, from what this job has shown and what its spec says."""

from math import log

from hedgerow.wire import PHASE_CHECKPOINT, PHASE_ENDING, PHASE_EVAL, PHASE_FIRST_STEP, PHASE_INIT, PHASE_STEP
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core.durations import Histogram, Phases, count, longest, quantile, upper_seconds

# A step deadline lies as far beyond the 99th percentile as that lies beyond the median (4.7 standard deviations of a
# log-normal pace), within these bounds.
LEAST_TAIL, MOST_TAIL = 1.5, 2.5
# Of the longest that was ever finished: one as long may come again, and a longer one after so many times as many steps.
# Where the tail is heavy that is much longer (a power law through the median and the longest: Hill, A Simple General
# Approach to Inference About the Tail of a Distribution, 1975); such a job is told of as soon, and acted on later.
LONGEST_FACTOR, MOST_LONGEST_FACTOR = 1.5, 4.0
TIMES_AS_MANY = 30.0
HABIT, HABIT_APART, APART_FACTOR = 3, 2, 3.0
# A few steps say nothing of the tail: a heavy one (a Pareto index of 2.5) is supposed, and weighs as so many steps.
SUPPOSED_POWER, SUPPOSED_WEIGHT = 0.4, 40.0
# Start-up and saving vary more than steps do (caches, storage, queues).
RARE_PHASE_FACTOR = 3.0
# With n samples a deadline is widened by 1 + SCARCITY / n.
SCARCITY = 8.0
STEP_SCARCITY = 3.0
# Ranks that wait for others to exit: longer than any orderly shutdown, shorter than a night.
ENDING_SECONDS = 600.0

_START_PHASES = (PHASE_INIT, PHASE_FIRST_STEP)
_USUAL_PHASES = frozenset({*_START_PHASES, PHASE_STEP, PHASE_CHECKPOINT, PHASE_EVAL, PHASE_ENDING})


def deadline(phase: str, learned: Phases, health: HealthSpec, ranks: int, tail: bool = True) -> float:
    """Seconds without progress after which ``phase`` is overdue.

    A phase that the spec names has the spec's limit. ``ranks``: ranks that were measured together; their samples of
    one step are one sample, since they wait for each other. tail: also as long as a heavy tail may reach, for what a
    restart follows from.
    """
    for entry in health.phases:
        if entry.name == phase:
            return float(entry.max_seconds)
    if phase == PHASE_ENDING:
        return min(ENDING_SECONDS, float(health.stall.max_seconds))
    limit = float(health.startup_timeout_seconds if phase in _START_PHASES else health.stall.max_seconds)
    histogram = learned.get(phase, {})
    samples = count(histogram) / max(1, ranks)
    if samples < 1:
        return limit
    if phase == PHASE_STEP:
        learned_limit = max(
            _step_base(histogram) * (1 + STEP_SCARCITY / samples), _tail(histogram, samples) if tail else 0.0
        )
    else:
        learned_limit = RARE_PHASE_FACTOR * longest(histogram) * (1 + SCARCITY / samples)
    return min(max(learned_limit, float(health.stall.min_seconds)), limit)


def deadlines(learned: Phases, health: HealthSpec, ranks: int, tail: bool = True) -> dict[str, float]:
    """The deadline of every phase that is known by name: the usual ones, the learned ones, the spec's."""
    names = _USUAL_PHASES | set(learned) | {entry.name for entry in health.phases}
    return {name: deadline(name, learned, health, ranks, tail) for name in sorted(names)}


def _step_base(histogram: Histogram) -> float:
    tail, median = quantile(histogram, 0.99), quantile(histogram, 0.5)
    factor = min(MOST_TAIL, max(LEAST_TAIL, tail / median)) if median > 0 else MOST_TAIL
    return max(factor * tail, LONGEST_FACTOR * longest(histogram))


def _tail(histogram: Histogram, samples: float) -> float:
    """Seconds that one of TIMES_AS_MANY more steps may take."""
    median, most = quantile(histogram, 0.5), longest(histogram)
    if not median or _habit(histogram, samples):
        return 0.0
    shown = log(most / median) / log(samples / 2.0) if samples > 2.0 else 0.0
    power = (samples * shown + SUPPOSED_WEIGHT * SUPPOSED_POWER) / (samples + SUPPOSED_WEIGHT)
    return most * float(min(MOST_LONGEST_FACTOR, TIMES_AS_MANY**power))


def _habit(histogram: Histogram, samples: float) -> bool:
    """Whether the longest is a length of its own, and no end of a tail: it has come several times, or twice with
    nothing near it.
    """
    *others, last = sorted(histogram)
    times = histogram[last] * samples / count(histogram)
    apart = bool(others) and upper_seconds(last) > APART_FACTOR * upper_seconds(others[-1])
    return times >= (HABIT_APART if apart else HABIT)
