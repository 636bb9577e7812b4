"""Steps that become slower: found when they stand out, not when they vary, drift with the batch, or pause."""

import random
import statistics
from collections.abc import Callable, Iterator

import pytest

from hedgerow_operator.core.slowdown import SlowdownWatch
from hedgerow_operator.core.stragglers import StragglerWatch
from hedgerow_operator.core.watching.pace import FRESH_INTERVALS, REPORT_BY_REPORT, TOLD_INTERVALS

CHANCE = random.Random(4)


def vary(seconds: float, jitter: float, count: int) -> list[float]:
    return [seconds * CHANCE.lognormvariate(0, jitter) for _ in range(count)]


def incidents(steps: list[float], loads: list[float] | None = None) -> list[tuple[int, int | None]]:
    """First and last step of each slow-down."""
    watch, now, found, start = SlowdownWatch(), 0.0, [], None
    for number, seconds in enumerate(steps):
        now += seconds
        watch.add(now, seconds, (loads[number],) if loads else ())
        if watch.slow is not None and start is None:
            start = number
        elif watch.slow is None and start is not None:
            found.append((start, number))
            start = None
    return [*found, (start, None)] if start is not None else found


STEADY: dict[str, Callable[[], list[float]]] = {
    "steady steps": lambda: [1.0] * 2000,
    "steps that vary by a tenth": lambda: vary(1.0, 0.1, 5000),
    "steps that vary by half": lambda: vary(1.0, 0.5, 5000),
    "steps of ten seconds that vary by a third": lambda: vary(10.0, 0.3, 10000),
    "steps with a long tail": lambda: [5.0 + CHANCE.expovariate(0.2) for _ in range(10000)],
    "a long warm-up": lambda: [9.0, 6.0, 3.0, 2.0, 1.5] + [1.0] * 500,
    "a pause now and then": lambda: ([1.0] * 49 + [30.0]) * 40,
    "five percent slower": lambda: [1.0] * 500 + [1.05] * 500,
    "two kinds of steps in turn": lambda: [1.0, 1.4] * 1000,
    "few steps": lambda: [1.0] * 20 + [2.0] * 5,
}


@pytest.mark.parametrize("case", STEADY)
def test_no_slowdown_in(case: str) -> None:
    assert incidents(STEADY[case]()) == []


@pytest.mark.parametrize(("factor", "jitter"), [(1.12, 0.0), (1.15, 0.02), (1.3, 0.05), (2.0, 0.1)])
def test_a_lasting_slowdown_is_one_incident_that_closes(factor: float, jitter: float) -> None:
    steps = vary(1.0, jitter, 600) + vary(factor, jitter, 400) + vary(1.0, jitter, 400)
    ((start, end),) = incidents(steps)
    assert 600 < start <= 680
    assert end is not None
    assert 1000 < end <= 1080


def medians(jitter: float, factor: float, before: int, after: int, chance: random.Random) -> int | None:
    """Steps from a change until it shows, where a launcher tells the median of 33 steps and every 11th is heard."""
    watch, steps = SlowdownWatch(sampling=REPORT_BY_REPORT), [chance.lognormvariate(0, jitter) for _ in range(before)]
    steps += [factor * chance.lognormvariate(0, jitter) for _ in range(after)]
    for number in range(11, len(steps) + 1, 11):
        recent = steps[max(0, number - TOLD_INTERVALS) : number]
        watch.add(2.0 * number, statistics.median(recent), share=FRESH_INTERVALS / TOLD_INTERVALS)
        if watch.slow is not None:
            return number - before
    return None


@pytest.mark.parametrize(("jitter", "before", "most"), [(0.02, 120, 120), (0.1, 200, 120), (0.2, 600, 150)])
def test_a_slowdown_shows_in_the_medians_that_launchers_tell_within(jitter: float, before: int, most: int) -> None:
    found = [medians(jitter, 1.3, before, most, random.Random(seed)) for seed in range(20)]
    assert all(steps is not None and 0 < steps <= most for steps in found)


def test_medians_that_share_most_of_their_steps_show_no_slowdown_by_chance() -> None:
    assert [medians(0.3, 1.0, 2000, 0, random.Random(seed)) for seed in range(10)] == [None] * 10


def test_a_slow_drift_is_found_although_each_step_is_like_the_last() -> None:
    assert incidents([1.0 + 0.0002 * number for number in range(2000)])


def test_more_work_a_step_is_no_slowdown() -> None:
    assert incidents([1.0] * 300 + [2.0] * 300, [256.0] * 300 + [512.0] * 300) == []


def turns(count: int, slow: dict[str, float]) -> Iterator[dict[str, float]]:
    for _ in range(count):
        yield {
            worker: pace * slow.get(worker, 1.0) * CHANCE.lognormvariate(0, 0.05)
            for worker, pace in {"0": 1.0, "1": 3.0, "2": 1.0, "3": 1.1}.items()
        }


def test_workers_that_always_differ_are_no_stragglers() -> None:
    watch = StragglerWatch()
    assert all(not watch.add(turn).factors for turn in turns(500, {}))


def test_a_worker_that_becomes_slow_is_named_until_it_recovers() -> None:
    watch = StragglerWatch()
    for turn in turns(200, {}):
        watch.add(turn)
    assert set([watch.add(turn).factors for turn in turns(12, {"1": 2.5})][-1]) == {"1"}
    assert [watch.add(turn).factors for turn in turns(12, {})][-1] == {}


def test_when_all_become_slow_together_nobody_is_a_straggler() -> None:
    watch = StragglerWatch()
    for turn in turns(200, {}):
        watch.add(turn)
    assert all(not watch.add(turn).factors for turn in turns(50, dict.fromkeys("0123", 2.5)))
