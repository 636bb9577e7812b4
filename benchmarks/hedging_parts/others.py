"""Worlds that the policy was not made on: other shapes of queues, providers that depend on each other, drift, prices.

The last one draws all of it anew for each seed.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from hedgerow_operator.replay.hedging.rounds import Round
from hedging_parts.worlds import ROUNDS, Shape, World

Shapes = Sequence[Shape]
# The shapes of the three providers in a round, in the order of the endpoint, and how long their queues are then.
Regime = Callable[[int, random.Random], tuple[Shapes, float]]
_NAMES = ("runpod", "cerebrium", "modal")
_GAP_SECONDS = 60.0

_QUICK = Shape(queue=1.5, work=3.5)
_BACKUP = Shape(queue=3.0, work=15.0)
_DARK = Shape(queue=5.0, work=30.0, work_spread=0.3, shows=False)


def long_tails(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """Queues without modes: lognormal, one in twenty of the first is ten times the median."""
    first = Shape(queue=1.5, queue_spread=1.4, work=4.0, work_spread=0.3)
    return (first, Shape(queue=3.0, queue_spread=0.6, work=14.0, work_spread=0.2), _DARK), 1.0


def long_work(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """The queue tells nothing: all begin at once, and some work long."""
    first = Shape(queue=0.5, work=5.0, work_spread=1.0)
    return (first, Shape(queue=0.5, work=8.0, work_spread=0.5), _DARK), 1.0


def two_modes(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """The first and the second are each slow for a part of the requests, independently."""
    first = Shape(queue=1.2, work=4.0, slow=0.35, slow_queue=12.0, slow_work=3.0)
    return (first, Shape(queue=2.5, work=14.0, slow=0.2, slow_queue=6.0, slow_work=2.0), _DARK), 1.0


def near_modes(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """Slow is three times as long only: waiting for it is often right."""
    first = Shape(queue=1.5, work=4.0, queue_spread=0.2, slow=0.4, slow_queue=3.0)
    return (first, Shape(queue=2.5, work=12.0, queue_spread=0.2, slow=0.3, slow_queue=3.0), _DARK), 1.0


def drift(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """The first becomes four times as slow from end to end, the second quicker by a third."""
    share = number / ROUNDS
    first = Shape(queue=1.2 * 4**share, work=3.0 * 4**share, slow=0.15, slow_work=3.0)
    return (first, Shape(queue=3.0 * 0.67**share, work=15.0 * 0.67**share, slow=0.05), _DARK), 1.0


def waves(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """Queues of all grow and shrink sixfold, as over a day."""
    first = Shape(queue=1.0, work=4.0, queue_spread=0.3, slow=0.1)
    return (first, Shape(queue=2.0, work=13.0, queue_spread=0.3), _DARK), 6 ** math.sin(number / 30)


def failing(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """One in ten answers of the first is none, one in twenty of the others."""
    first = Shape(queue=1.5, work=4.0, slow=0.2, slow_work=5.0, fails=0.1)
    return (first, Shape(queue=3.0, work=14.0, fails=0.05), _DARK), 1.0


def three_prices(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """Cheap and slow, dearer and quicker, dear and at once."""
    first = Shape(queue=4.0, work=12.0, queue_spread=0.4, slow=0.25, slow_queue=8.0)
    return (first, Shape(queue=2.0, work=8.0, slow=0.1), Shape(queue=0.3, work=4.0, shows=False)), 1.0


def dear_first(number: int, chance: random.Random) -> tuple[Shapes, float]:
    """The one that is preferred costs most, and is quick; those behind it are cheap and slow."""
    first = Shape(queue=0.5, work=3.0, slow=0.1, slow_queue=30.0)
    return (first, Shape(queue=3.0, work=16.0, queue_spread=0.5), _DARK), 1.0


def _alike(regime: Regime, seed: int) -> Iterator[Round]:
    """Requests one after another, each provider on its own."""
    chance, now = random.Random(seed), 0.0
    for number in range(1, ROUNDS + 1):
        now += chance.expovariate(1 / _GAP_SECONDS)
        shapes, load = regime(number, chance)
        yield _round(number, now, shapes, chance, [load] * len(shapes))


def correlated(seed: int) -> Iterator[Round]:
    """All providers are crowded at the same time, for a while: a common walk, half of which each shares."""
    chance, now = random.Random(seed), 0.0
    common, own = 0.0, [0.0] * len(_NAMES)
    for number in range(1, ROUNDS + 1):
        now += chance.expovariate(1 / _GAP_SECONDS)
        common = 0.95 * common + chance.gauss(0.0, 0.25)
        own = [0.9 * walk + chance.gauss(0.0, 0.2) for walk in own]
        shapes = (_QUICK, _BACKUP, _DARK)
        yield _round(number, now, shapes, chance, [math.exp(common + walk) for walk in own])


def anything(seed: int) -> Iterator[Round]:
    """Providers and their troubles are drawn; four times in a course one of them becomes another."""
    chance, now = random.Random(seed), 0.0
    gap = 10 ** chance.uniform(0.5, 2.5)
    shapes = [_any_shape(chance, shows) for shows in (True, chance.random() < 0.7, chance.random() < 0.3)]
    for number in range(1, ROUNDS + 1):
        now += chance.expovariate(1 / gap)
        if number % (ROUNDS // 5) == 0:
            which = chance.randrange(len(shapes))
            shapes[which] = _any_shape(chance, shapes[which].shows)
        yield _round(number, now, shapes, chance, [1.0] * len(shapes))


def _any_shape(chance: random.Random, shows: bool) -> Shape:
    return Shape(
        queue=10 ** chance.uniform(-0.3, 0.7),
        work=10 ** chance.uniform(0.4, 1.4),
        queue_spread=chance.uniform(0.05, 1.0),
        work_spread=chance.uniform(0.05, 0.5),
        slow=chance.choice((0.0, chance.uniform(0.0, 0.4))),
        slow_queue=10 ** chance.uniform(0.5, 1.3),
        slow_work=10 ** chance.uniform(0.0, 1.0),
        fails=chance.choice((0.0, 0.0, chance.uniform(0.0, 0.1))),
        shows=shows,
    )


def _round(number: int, now: float, shapes: Shapes, chance: random.Random, loads: Sequence[float]) -> Round:
    drawn = {name: shape.draw(chance, load) for name, shape, load in zip(_NAMES, shapes, loads, strict=True)}
    return Round(number=number, began_at=now, courses=drawn)


WORLDS = (
    *(
        World(name=regime.__name__, rounds=partial(_alike, regime))
        for regime in (long_tails, long_work, two_modes, near_modes, drift, waves, failing)
    ),
    World(name="three_prices", rounds=partial(_alike, three_prices),
          rates={"runpod": 0.0001, "cerebrium": 0.0005, "modal": 0.002}),
    World(name="dear_first", rounds=partial(_alike, dear_first),
          rates={"runpod": 0.002, "cerebrium": 0.0005, "modal": 0.0001}),
    World(name="correlated", rounds=correlated),
    World(name="anything", rounds=anything),
)  # fmt: skip
