"""Worlds in the shape of GPUHedge's traces (quick or cold), each with another trouble that comes and goes."""

import random
from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from hedgerow_operator.replay.hedging.rounds import Course, Round
from hedging_parts.worlds import NEVER, ROUNDS, World


class Weather(Struct, frozen=True, kw_only=True):
    """How likely each provider is cold or sick in a round, and how long nobody asked before it (seconds)."""

    runpod_cold: float = 0.3
    cerebrium_sick: float = 0.02
    modal_slow: float = 0.15
    gap: float = 200.0


Regime = Callable[[int], Weather]


def steady(number: int) -> Weather:
    """As in the traces when nobody is sick."""
    return Weather()


def backup_goes_sick(number: int) -> Weather:
    """For a quarter of the time Cerebrium takes 100 s for most requests."""
    return Weather(cerebrium_sick=0.8 if 150 <= number < 250 else 0.02)


def primary_goes_sick(number: int) -> Weather:
    """For a quarter of the time RunPod is cold for nearly every request."""
    return Weather(runpod_cold=0.95 if 150 <= number < 250 else 0.3)


def both_go_sick(number: int) -> Weather:
    """Both at once."""
    sick = 150 <= number < 220
    return Weather(runpod_cold=0.9 if sick else 0.3, cerebrium_sick=0.8 if sick else 0.02)


def load_gaps(number: int) -> Weather:
    """Every tenth request comes after 15 minutes, and then RunPod is cold."""
    gap = number % 10 == 0
    return Weather(runpod_cold=0.9 if gap else 0.1, gap=950.0 if gap else 30.0)


def quick_mode_disappears(number: int) -> Weather:
    """From the middle on RunPod has no quick mode any more."""
    return Weather(runpod_cold=1.0 if number >= 200 else 0.2)


def _rounds(regime: Regime, seed: int) -> Iterator[Round]:
    """One course of events."""
    chance = random.Random(seed)
    now = 0.0
    for number in range(1, ROUNDS + 1):
        weather = regime(number)
        now += chance.uniform(0.5, 1.5) * weather.gap
        yield Round(
            number=number,
            began_at=now,
            courses={
                "runpod": runpod(chance, weather),
                "cerebrium": cerebrium(chance, weather),
                "modal": modal(chance, weather),
            },
        )


def runpod(chance: random.Random, weather: Weather) -> Course:
    """Quick: 1.2 s of queue and 3.3 s of work. Cold: 9 to 28 s of queue and 80 to 106 s of work."""
    if chance.random() < weather.runpod_cold:
        queue, work = chance.choice((chance.uniform(8.9, 13.3), chance.uniform(18.9, 27.6))), chance.uniform(80, 106)
    else:
        queue, work = min(1.96, 1.1 + chance.expovariate(12)), chance.uniform(2.8, 4.0)
    return course(queue, work, chance.uniform(1.2, 2.0))


def cerebrium(chance: random.Random, weather: Weather) -> Course:
    """Well: begins after 2.4 to 3.7 s. Sick: after 11 s, and then works for 90 s; one in twenty is refused."""
    if chance.random() >= weather.cerebrium_sick:
        return course(chance.uniform(2.4, 3.7), chance.uniform(15.2, 16.8), 0.0)
    if chance.random() < 0.05:
        return Course(answer_seconds=NEVER, valid=False, refused=True)
    return course(chance.uniform(10.7, 11.6), chance.uniform(84, 93), 0.0)


def modal(chance: random.Random, weather: Weather) -> Course:
    """Shows nothing; 27 to 48 s, or 57 to 112 s."""
    slow = chance.random() < weather.modal_slow
    return Course(answer_seconds=chance.uniform(57, 112) if slow else chance.uniform(27, 48), valid=True)


def course(queue: float, work: float, rest: float) -> Course:
    """One that answers well."""
    return Course(answer_seconds=queue + work + rest, valid=True, queue_seconds=queue, execution_seconds=work)


WORLDS = tuple(
    World(name=regime.__name__, rounds=partial(_rounds, regime))
    for regime in (steady, backup_goes_sick, primary_goes_sick, both_go_sick, load_gaps, quick_mode_disappears)
)
