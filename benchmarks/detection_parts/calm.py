"""Kinds of healthy jobs, and of blindness, that are to be left alone."""

from dataclasses import replace
from random import Random

from detection_parts.kind import Register, Wanted, some_rank
from detection_parts.stream import (
    Interval,
    Look,
    Odd,
    Shape,
    Stream,
    healthy,
    pace,
    saves,
    trains,
    usual_steps,
)

calm = Register()
PAUSE_SECONDS = 45.0


@calm.add("healthy", Wanted.CALM, watched=True)
def _healthy(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)


@calm.add("pause of 45 s every so many steps, silent", Wanted.CALM)
def _every_steps(shape: Shape, chance: Random) -> Stream:
    for number, interval in enumerate(healthy(shape, chance)):
        yield interval
        if number % 50 == 49:
            yield Interval(PAUSE_SECONDS, look=Look.IDLE, steps=0)


@calm.add("pause of 45 s every so many minutes, silent", Wanted.CALM)
def _every_minutes(shape: Shape, chance: Random) -> Stream:
    now, next_pause = 0.0, 60.0 * shape.seconds
    for interval in healthy(shape, chance):
        yield interval
        now += interval.seconds
        if now >= next_pause:
            next_pause = now + 60.0 * shape.seconds
            yield Interval(PAUSE_SECONDS, look=Look.IDLE, steps=0)


@calm.add("undeclared pause seen for the first time", Wanted.CALM)
def _first_pause(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield Interval(PAUSE_SECONDS, look=Look.IDLE, steps=0)
    yield from trains(shape, chance, 60)


@calm.add("link that flaps", Wanted.CALM, watched=True)
def _flaps(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    for _ in range(5):
        yield Interval(chance.uniform(15.0, 25.0) + shape.seconds, look=Look.SPINS)
        yield from trains(shape, chance, chance.randrange(3, 20))


@calm.add("rank 0 saves without a word, the others wait", Wanted.CALM)
def _undeclared_save(shape: Shape, chance: Random) -> Stream:
    for number, interval in enumerate(healthy(shape, chance)):
        yield interval
        if number % 100 == 99:
            yield Interval(120.0, look=Look.SPINS, odd=Odd((0,), Look.MOVES_BYTES, behind=True, place="save"))


@calm.add("save that takes five times as long", Wanted.CALM)
def _slow_save(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    usual = saves(shape, chance)
    yield replace(usual, seconds=5.0 * usual.seconds)
    yield from trains(shape, chance, 40)


@calm.add("evaluation of seven minutes, declared", Wanted.CALM)
def _long_evaluation(shape: Shape, chance: Random) -> Stream:
    for number, interval in enumerate(healthy(shape, chance)):
        yield interval
        if number % 100 == 99:
            yield Interval(420.0 * chance.lognormvariate(0.0, 0.1), "evaluate-all", steps=0)


@calm.add("batch that grows", Wanted.CALM, watched=True)
def _ramp(shape: Shape, chance: Random) -> Stream:
    size = 32.0
    yield from healthy(shape, chance, values={"batch_size": size})
    for growth in range(1, 5):
        size *= 2.0
        for _ in range(usual_steps(shape) // 4):
            yield Interval(pace(shape, chance) * 1.25**growth, values={"batch_size": size})


@calm.add("output in blocks", Wanted.CALM, watched=True)
def _blocks(shape: Shape, chance: Random) -> Stream:
    for interval in healthy(shape, chance, source="Log"):
        steps = chance.randrange(20, 60) if interval.phase == "step" else interval.steps
        seconds = interval.seconds * max(1, steps)
        yield replace(interval, seconds=seconds, steps=steps, bursty=interval.phase == "step")


@calm.add("cold first epoch", Wanted.CALM, watched=True)
def _cold(shape: Shape, chance: Random) -> Stream:
    yield Interval(60.0, "init", steps=0)
    yield Interval(30.0 * shape.seconds, "first-step")
    for _ in range(60):
        yield Interval(6.0 * pace(shape, chance), look=Look.MOVES_BYTES)
    yield from trains(shape, chance)


@calm.add("slow first step after a resume", Wanted.CALM, attempts_before=4)
def _slow_first_step(shape: Shape, chance: Random) -> Stream:
    yield Interval(80.0, "init", steps=0)
    yield Interval(100.0 * shape.seconds + 60.0, "first-step")
    yield from trains(shape, chance)


@calm.add("steps that vary widely", Wanted.CALM, watched=True)
def _varied(shape: Shape, chance: Random) -> Stream:
    wide = replace(shape, jitter=0.7)
    yield from healthy(wide, chance)


@calm.add("reports of half the workers lost for two minutes", Wanted.CALM, least_ranks=16)
def _lost_reports(shape: Shape, chance: Random) -> Stream:
    half = frozenset(range(shape.workers // 2))
    yield from healthy(shape, chance)
    yield from _for_seconds(shape, chance, 120.0, unheard=half)
    yield from trains(shape, chance, 30)


@calm.add("all launchers silent for ten minutes", Wanted.CALM)
def _all_silent(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield from _for_seconds(shape, chance, 600.0, unheard=frozenset(range(shape.workers)))
    yield from trains(shape, chance, 30)


@calm.add("operator blind, and begun anew", Wanted.CALM)
def _blind(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    yield from _for_seconds(shape, chance, 200.0, blind=True)
    yield Interval(pace(shape, chance), restarts=True)
    yield from trains(shape, chance, 60)


@calm.add("clock that jumps by an hour and back", Wanted.CALM)
def _clock(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    for shift in (3600.0, -3600.0, 0.0):
        yield Interval(pace(shape, chance), shift=shift)
        yield from trains(shape, chance, 30, shift=shift)


@calm.add("one rank a step ahead for a while", Wanted.CALM, least_ranks=2)
def _ahead(shape: Shape, chance: Random) -> Stream:
    yield from healthy(shape, chance)
    rank = some_rank(shape, chance)
    for _ in range(60):
        yield Interval(1.1 * pace(shape, chance), odd=Odd((rank,), Look.WORKS, behind=True))


def _for_seconds(shape: Shape, chance: Random, seconds: float, **fields: object) -> Stream:
    passed = 0.0
    while passed < seconds:
        interval = Interval(pace(shape, chance), **fields)  # type: ignore[arg-type]
        passed += interval.seconds
        yield interval
