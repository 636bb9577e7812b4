"""Kinds whose steps are uneven: heavy tails, two lengths, a slow drift. They came after the limits were chosen."""

from collections.abc import Callable
from random import Random

from detection_parts.kind import Register, Wanted, some_rank
from detection_parts.stalls import hang
from detection_parts.stream import Interval, Look, Odd, Shape, Stream, pace, saves, usual_steps

uneven = Register()

# Of the Pareto distribution: one step in a hundred takes more than six times as long as the shortest. It is cut off: of
# 21,829 mini-batches of ten workers in cluster-trace-gpu-v2020 (Alibaba), job 4, the longest took 4.5 times the median,
# and whoever waits in a collective of NCCL ends after 600 s (PyTorch's default), so that no step is longer.
TAIL = 2.5
MOST_FACTOR, MOST_SECONDS = 20.0, 600.0
# A step this many times longer than the shortest waits for its data.
WAITS = 3.0
LONG_SHARE, LONG_FACTOR = 0.2, 4.0
DRIFT = 0.6

Steps = Callable[[Shape, Random, float], Interval]


def _heavy(shape: Shape, chance: Random, done: float) -> Interval:
    """In the tail one rank is late: it waits for its data, with bytes that move or with none."""
    factor = min(MOST_FACTOR, chance.paretovariate(TAIL))
    seconds = min(MOST_SECONDS, factor * pace(shape, chance))
    if factor < WAITS or shape.ranks == 1:
        return Interval(seconds)
    look = chance.choice((Look.IDLE, Look.MOVES_BYTES))
    return Interval(
        seconds, look=Look.SPINS, odd=Odd((some_rank(shape, chance),), look, behind=True, place="next_batch")
    )


def _two(shape: Shape, chance: Random, done: float) -> Interval:
    """Long sequences come in between, in no order."""
    return Interval((LONG_FACTOR if chance.random() < LONG_SHARE else 1.0) * pace(shape, chance))


def _drifting(shape: Shape, chance: Random, done: float) -> Interval:
    """Longer and longer, by so much over the whole run."""
    return Interval((1.0 + DRIFT * done) * pace(shape, chance))


def _steps(shape: Shape, chance: Random, step: Steps) -> Stream:
    yield Interval(60.0 * chance.lognormvariate(0.0, 0.2), "init", steps=0)
    yield Interval(5.0 * shape.seconds, "first-step")
    count = usual_steps(shape)
    for number in range(count):
        yield step(shape, chance, number / count)
        if number % 50 == 49:
            yield saves(shape, chance)


@uneven.add("steps with a heavy tail", Wanted.CALM, watched=True)
def _heavy_tail(shape: Shape, chance: Random) -> Stream:
    yield from _steps(shape, chance, _heavy)


@uneven.add("steps of two lengths", Wanted.CALM, watched=True)
def _two_lengths(shape: Shape, chance: Random) -> Stream:
    yield from _steps(shape, chance, _two)


# That its steps grow longer may be told: what is asked here is that nothing takes it for a standstill.
@uneven.add("steps that drift", Wanted.CALM)
def _drift(shape: Shape, chance: Random) -> Stream:
    yield from _steps(shape, chance, _drifting)


@uneven.add("hang in a job whose steps have a heavy tail", Wanted.RESTART)
def _heavy_hang(shape: Shape, chance: Random) -> Stream:
    yield from _steps(shape, chance, _heavy)
    yield hang(some_rank(shape, chance), Look.IDLE, "refill")


@uneven.add("hang in a job of two lengths of steps", Wanted.RESTART)
def _two_hang(shape: Shape, chance: Random) -> Stream:
    yield from _steps(shape, chance, _two)
    yield hang(some_rank(shape, chance), Look.IDLE, "refill")


@uneven.add("hang in a job whose steps drift", Wanted.RESTART)
def _drift_hang(shape: Shape, chance: Random) -> Stream:
    yield from _steps(shape, chance, _drifting)
    yield hang(some_rank(shape, chance), Look.SPINS, "parse")
