"""The default policy's p95 and cost as ratios to the better of two others, with intervals."""

import math
import random
from collections.abc import Mapping, Sequence
from statistics import NormalDist, fmean

from msgspec import Struct

from hedgerow_operator.replay.hedging.session import CHOICES, Decided, HedgingReplay
from hedgerow_operator.replay.hedging.shown import quantile
from hedging_parts.worlds import NEVER, World

OURS, OTHERS = "adaptive", ("fixed", "cutover")
FIELDS = ("p95", "cost")
BOOTSTRAPS = 1000
LEVEL = 0.95


class Figures(Struct, frozen=True):
    """p95 in seconds, cost in US dollars a request (model A)."""

    p95: float
    cost: float


class Ratio(Struct, frozen=True):
    """Ours to the better of the others, each as the mean over seeds; low, high: interval. worse: seeds in which ours is
    worse by more than was aimed for.
    """

    value: float
    low: float
    high: float
    worse: int


def figures(decided: Sequence[Decided]) -> Figures:
    """Of one run."""
    return Figures(
        quantile([min(one.outcome.latency_seconds, NEVER) for one in decided], 0.95),
        fmean(one.cost.active for one in decided),
    )


def played(world: World, seeds: range) -> dict[str, list[Figures]]:
    """By policy, for each seed."""
    return {
        name: [figures(HedgingReplay(CHOICES[name], rates=world.rates).all(world.rounds(seed))) for seed in seeds]
        for name in (OURS, *OTHERS)
    }


def ratio(runs: Mapping[str, Sequence[Figures]], field: str, aim: float) -> Ratio:
    """Of one figure."""
    values = {name: [getattr(one, field) for one in runs[name]] for name in runs}
    count = len(values[OURS])
    low, high = _interval(values)
    worse = sum(_ratio(values, [index]) > aim for index in range(count))
    return Ratio(_ratio(values, range(count)), low, high, worse)


def _ratio(values: Mapping[str, Sequence[float]], chosen: Sequence[int]) -> float:
    mean = {name: fmean(values[name][index] for index in chosen) for name in values}
    return mean[OURS] / min(mean[name] for name in OTHERS)


def _interval(values: Mapping[str, Sequence[float]]) -> tuple[float, float]:
    """Seeds are drawn again, and which of the others is the better is found anew in each draw.

    With few seeds such quantiles are too near to each other; they are moved out as Hesterberg does ("What Teachers
    Should Know About the Bootstrap", 2015, section 4.6): by Student's t, and by the n - 1 of a variance.
    """
    chance = random.Random(0)
    count = len(values[OURS])
    drawn = sorted(_ratio(values, chance.choices(range(count), k=count)) for _ in range(BOOTSTRAPS))
    tail = NormalDist().cdf(-math.sqrt(count / (count - 1)) * student((1 + LEVEL) / 2, count - 1))
    return drawn[math.floor(tail * BOOTSTRAPS)], drawn[math.ceil((1 - tail) * BOOTSTRAPS) - 1]


def student(share: float, freedom: int) -> float:
    """Quantile of Student's t, by the first terms of its expansion in 1/freedom (Abramowitz and Stegun 26.7.5)."""
    z = NormalDist().inv_cdf(share)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
