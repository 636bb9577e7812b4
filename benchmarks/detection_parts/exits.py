"""Kinds of ends: ranks that exit, are killed, or raise."""

from random import Random

from detection_parts.kind import Register, Wanted, some_rank
from detection_parts.stream import FOREVER, Exit, Interval, Look, Shape, Stream, healthy, pace

exits = Register()

OWN = ("Traceback (most recent call last):", "ValueError: a batch of rank {rank} has no labels")
DEVICE = ("RuntimeError: CUDA error: uncorrectable ECC error encountered",)
FOLLOWS = ("torch.distributed.DistBackendError: NCCL communicator was aborted",)
GIB = 1 << 30


def others(shape: Shape, rank: int) -> tuple[int, ...]:
    """All but one."""
    return tuple(other for other in range(shape.ranks) if other != rank)


@exits.add("rank that raises, the others follow", Wanted.RESTART)
def _raises(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    rank = some_rank(shape, chance)
    first = Exit((rank,), tail=tuple(line.format(rank=rank) for line in OWN))
    yield Interval(FOREVER, look=Look.IDLE, fault=True, guilty=(rank,),
                   exits=(first, Exit(others(shape, rank), tail=FOLLOWS, after=2.0)))


@exits.add("device that breaks under one rank", Wanted.RESTART)
def _device(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    rank = some_rank(shape, chance)
    yield Interval(FOREVER, look=Look.SPINS, fault=True, guilty=(rank,),
                   exits=(Exit((rank,), code=None, signal=6, tail=DEVICE),))


@exits.add("rank killed for its memory after a leak", Wanted.RESTART)
def _leak(shape: Shape, chance: Random) -> Stream:
    rank = some_rank(shape, chance)
    yield from healthy(shape, chance, memory_bytes=20 * GIB)
    for number in range(150):
        yield Interval(pace(shape, chance), memory_bytes=(20 * GIB + number * GIB // 4))
    yield Interval(FOREVER, look=Look.SPINS, fault=True, guilty=(rank,), exits=(Exit((rank,), code=None, signal=9),))


@exits.add("rank killed by somebody", Wanted.RESTART)
def _killed(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    rank = some_rank(shape, chance)
    yield Interval(FOREVER, look=Look.SPINS, fault=True, guilty=(rank,), exits=(Exit((rank,), code=None, signal=9),))


@exits.add("the same exception on all ranks", Wanted.STOP, least_ranks=2)
def _everywhere(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    tail = ("KeyError: 'no such column: price'",)
    yield Interval(FOREVER, look=Look.IDLE, fault=True, exits=(Exit(tuple(range(shape.ranks)), tail=tail),))
