"""Kinds of hangs: the gang stands still for ever, and every process lives."""

from dataclasses import replace
from random import Random

from detection_parts.kind import Register, Wanted, some_rank
from detection_parts.stream import FOREVER, Exit, Interval, Look, Odd, Shape, Stream, healthy

stalls = Register()


def hang(rank: int, look: Look, place: str, others: Look = Look.SPINS) -> Interval:
    """One rank never reaches the collective in which the others wait."""
    odd = Odd((rank,), look, behind=True, place=place)
    return Interval(FOREVER, look=others, odd=odd, fault=True, guilty=(rank,))


@stalls.add("hang in a collective that all have joined", Wanted.RESTART)
def _fabric(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield Interval(FOREVER, look=Look.SPINS, fault=True)


@stalls.add("hang in a collective that one never joins", Wanted.RESTART)
def _never_joined(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield hang(some_rank(shape, chance), Look.IDLE, "refill")


@stalls.add("hang in the data loader", Wanted.RESTART)
def _loader(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield hang(some_rank(shape, chance), Look.IDLE, "next_batch", others=Look.IDLE)


@stalls.add("interpreter lock held for ever", Wanted.RESTART)
def _interpreter_lock(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield hang(some_rank(shape, chance), Look.SPINS, "parse")


@stalls.add("disk that does not answer (state D)", Wanted.RESTART)
def _disk(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield hang(some_rank(shape, chance), Look.STORAGE, "")


@stalls.add("hang in an evaluation", Wanted.RESTART)
def _evaluation(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    rank = some_rank(shape, chance)
    odd = Odd((rank,), Look.IDLE, place="score")
    yield Interval(FOREVER, "eval", Look.SPINS, odd=odd, fault=True, guilty=(rank,), steps=0)


@stalls.add("hang while rank 0 saves", Wanted.RESTART)
def _saving(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    odd = Odd((0,), Look.IDLE, phase="checkpoint", place="write_shard")
    yield Interval(FOREVER, look=Look.SPINS, odd=odd, fault=True, guilty=(0,), steps=0)


@stalls.add("storage that everyone waits for while saving", Wanted.RESTART)
def _storage(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield Interval(FOREVER, "checkpoint", Look.STORAGE, fault=True, steps=0)


@stalls.add("rank stopped by a signal", Wanted.RESTART)
def _stopped(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield hang(some_rank(shape, chance), Look.STOPPED, "")


@stalls.add("node that freezes", Wanted.RESTART, least_ranks=16)
def _node(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    worker = chance.randrange(shape.workers)
    ranks = tuple(range(worker * shape.per_worker, (worker + 1) * shape.per_worker))
    yield Interval(FOREVER, look=Look.SPINS, dead_nodes=frozenset({worker}), fault=True, guilty=ranks)


@stalls.add("hang of which nothing can be measured", Wanted.RESTART)
def _hidden(shape: Shape, chance: Random) -> Stream:
    yield from (replace(interval, look=Look.HIDDEN) for interval in healthy(shape, chance))
    yield hang(some_rank(shape, chance), Look.HIDDEN, "", others=Look.HIDDEN)


@stalls.add("hang after a few steps", Wanted.RESTART)
def _early(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance, steps=8)
    yield hang(some_rank(shape, chance), Look.IDLE, "refill")


@stalls.add("hang in the start after a resume", Wanted.RESTART, attempts_before=4)
def _start(shape: Shape, chance: Random) -> Stream:
    yield Interval(FOREVER, "init", Look.IDLE, fault=True, steps=0)


@stalls.add("hang in a job with long pauses", Wanted.RESTART)
def _with_pauses(shape: Shape, chance: Random) -> Stream:
    for number, interval in enumerate(healthy(shape, chance)):
        yield interval
        if number % 60 == 59:
            yield Interval(45.0, look=Look.IDLE, steps=0)
    yield hang(some_rank(shape, chance), Look.IDLE, "refill")


@stalls.add("rank that does not end with the others", Wanted.RESTART, least_ranks=2)
def _ending(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    rank = some_rank(shape, chance)
    others = tuple(other for other in range(shape.ranks) if other != rank)
    yield Interval(FOREVER, "ending", Look.IDLE, odd=Odd((rank,), Look.IDLE, phase="step", place="join"),
                   fault=True, guilty=(rank,), exits=(Exit(others, code=0),))
