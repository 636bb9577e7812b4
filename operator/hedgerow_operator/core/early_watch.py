"""Sooner than a deadline: when a standstill is watched closely, and told. Nothing is restarted by it."""

from collections.abc import Mapping
from math import log

import msgspec

from hedgerow.wire import PHASE_ENDING
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core.deadlines import APART_FACTOR, deadlines
from hedgerow_operator.core.durations import Histogram, Phases, count, quantile, upper_seconds
from hedgerow_operator.core.gang import Gang, Roster
from hedgerow_operator.core.plan import CALM_INTERVAL_SECONDS
from hedgerow_operator.core.verdict import Verdict, judge

# Of the usual interval, and of the longest but for one in a hundred. A usual one is known to 19 % (its bucket), so that
# with what it takes to gather evidence a standstill shows within four of them.
MEDIAN_FACTOR = 2.5
TAIL_FACTOR = 1.2
# Where the tail is heavy (a power law with an index of 4 and less) a standstill is unusual only beyond what may come
# once in so many times as many steps. Its scale is the third longest: one long pause is no tail.
HEAVY_POWER, TAIL_RANK = 0.25, 3
TIMES_AS_MANY, MOST_TAIL_FACTOR = 5.0, 2.5
# Of the spec's least: the evidence is gathered by the time that the deadline passes.
LEAST_SHARE = 0.6
# Where no second evidence can be had. Less than for a restart: it is only told.
UNMEASURED_FACTOR = 1.5
# A launcher in calm is heard every CALM_INTERVAL_SECONDS.
MISSED_SECONDS = 1.6 * CALM_INTERVAL_SECONDS


def early_limits(
    learned: Phases, health: HealthSpec, ranks: int, limits: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Seconds without progress by phase; never longer than the deadline, and as long where the spec names the phase.

    limits: the deadlines, where they are known already.
    """
    named = {entry.name for entry in health.phases} | {PHASE_ENDING}
    least = LEAST_SHARE * health.stall.min_seconds
    return {
        phase: limit if phase in named else min(limit, max(least, _usual(learned.get(phase, {}), ranks) or limit))
        for phase, limit in (deadlines(learned, health, ranks) if limits is None else limits).items()
    }


def early_verdict(gang: Gang, limits: Mapping[str, float], speaks: bool) -> Verdict:
    """The verdict by these limits.

    A launcher that has missed its report while all that are heard stand still counts as silent.
    """
    heard = frozenset(worker for worker in gang.fresh if gang.silence(worker) <= MISSED_SECONDS)
    if heard != gang.fresh:
        every = gang.ranks
        ranks = every.of(heard) if isinstance(every, Roster) else [one for one in every if one.worker in heard]
        gang = msgspec.structs.replace(gang, fresh=heard, ranks=ranks)
    return judge(gang, limits, speaks, UNMEASURED_FACTOR)


def _usual(histogram: Histogram, ranks: int) -> float:
    samples = count(histogram) / max(1, ranks)
    if samples < 1:
        return 0.0
    median, rare = quantile(histogram, 0.5), quantile(histogram, 0.99)
    return max(MEDIAN_FACTOR * median, TAIL_FACTOR * rare, _heavy_tail(histogram, samples)) * (1 + 1 / samples)


def _heavy_tail(histogram: Histogram, samples: float) -> float:
    """How far a heavy tail may reach, seconds; 0.0 where the tail is light, or too little is known of it."""
    median, scale = quantile(histogram, 0.5), quantile(histogram, 1.0 - (TAIL_RANK - 1) / max(samples, TAIL_RANK))
    times_beyond_median = samples / (2.0 * TAIL_RANK)
    if not median or times_beyond_median < TAIL_RANK:
        return 0.0
    power = log(scale / median) / log(times_beyond_median)
    if power < HEAVY_POWER:
        return 0.0
    shorter = [seconds for seconds in map(upper_seconds, histogram) if seconds < scale]
    if scale > APART_FACTOR * max(shorter, default=scale):
        return TAIL_FACTOR * scale  # a length of its own, which has come several times
    return scale * float(min(MOST_TAIL_FACTOR, (TAIL_RANK * TIMES_AS_MANY) ** power))
