"""Kinds of trouble that a person is to be told of, and that no restart mends: slow ranks and links, broken numbers."""

from random import Random

from detection_parts.kind import Register, Wanted, some_rank
from detection_parts.stream import Interval, Odd, Shape, Stream, healthy, pace, usual_steps

slow = Register()
COMMUNICATION = 0.2  # of a step, as long as all is well


@slow.add("one rank slow", Wanted.TELL, least_ranks=4, watched=True)
def _rank(shape: Shape, chance: Random) -> Stream:
    usual = COMMUNICATION * shape.seconds
    yield from healthy(shape, chance, communication=usual)
    rank = some_rank(shape, chance)
    odd = Odd((rank,), communication=0.1 * usual)
    for _ in range(usual_steps(shape)):
        step = 1.4 * pace(shape, chance)
        yield Interval(step, odd=odd, communication=usual + 0.4 * shape.seconds, fault=True, guilty=(rank,))


@slow.add("link slow", Wanted.TELL, least_ranks=4, watched=True)
def _link(shape: Shape, chance: Random) -> Stream:
    usual = COMMUNICATION * shape.seconds
    yield from healthy(shape, chance, communication=usual)
    for _ in range(usual_steps(shape)):
        step = pace(shape, chance) + 0.3 * shape.seconds
        yield Interval(step, communication=usual + 0.3 * shape.seconds, fault=True)


@slow.add("all ranks slow", Wanted.TELL, watched=True)
def _all(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    for _ in range(usual_steps(shape)):
        yield Interval(1.3 * pace(shape, chance), fault=True)


@slow.add("loss that is no number", Wanted.TELL, watched=True)
def _loss(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance, values={"loss": 2.5})
    for _ in range(60):
        yield Interval(pace(shape, chance), not_finite={"loss": "NaN"}, fault=True, guilty=tuple(range(shape.ranks)))
