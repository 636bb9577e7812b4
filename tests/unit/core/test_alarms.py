"""Broken and drifting numbers, and numbers that only move as they should."""

import math

import pytest

from hedgerow.logs import observation as names
from hedgerow_operator.core.alarms import LeakWatch, SpikeWatch, not_a_number

FALLING = [5.0 * 0.99**number + 1.0 for number in range(200)]
NOISY = [2.0 + 0.05 * math.sin(7.0 * number) for number in range(200)]

SPIKES: dict[str, tuple[list[float], list[float]]] = {
    "a falling loss": (FALLING, []),
    "a noisy loss": (NOISY, []),
    "a loss that doubles": ([*NOISY, 4.0], [4.0]),
    "the spike is no part of the past": ([*NOISY, 4.0, 4.1, 4.2, 2.0], [4.0, 4.1, 4.2]),
    "a small bump": ([*NOISY, 2.15], []),
    "the second value already twice the first says little": ([2.0, 3.0], []),
    "nan is not a spike": ([*NOISY, math.nan], []),
}


@pytest.mark.parametrize("case", SPIKES)
def test_spikes_in(case: str) -> None:
    amounts, spikes = SPIKES[case]
    watch = SpikeWatch(names.LOSS, "loss-spike")
    assert [amount for amount in amounts if watch.add(amount)] == spikes


@pytest.mark.parametrize(("amount", "words"), [
    (math.nan, "loss is NaN"), (math.inf, "loss is infinite"), (-math.inf, "loss is infinite"), (2.0, None),
])
def test_a_loss_that_is_no_number(amount: float, words: str | None) -> None:
    alarm = not_a_number(names.LOSS, amount)
    assert (alarm.message if alarm else None) == words


LEAKS: dict[str, tuple[list[float], bool]] = {
    "memory that grows steadily": ([1e9 + 1e7 * number for number in range(200)], True),
    "memory that grows in a noise": ([1e9 + 1e7 * number + 5e7 * (number % 5) for number in range(200)], True),
    "memory that stays": ([1e9 + 1e7 * (number % 7) for number in range(200)], False),
    "a cache that fills and levels off": ([min(1e9 + 1e7 * number, 1.3e9) for number in range(200)], False),
    "memory that is freed again and again": ([1e9 + 1e7 * (number % 50) for number in range(200)], False),
    "a single jump": ([1e9] * 150 + [2e9] * 50, False),
    "too few samples": ([1e9 + 1e8 * number for number in range(50)], False),
}


@pytest.mark.parametrize("case", LEAKS)
def test_leak(case: str) -> None:
    amounts, leaks = LEAKS[case]
    watch = LeakWatch()
    alarms = [watch.add(float(time), amount) for time, amount in enumerate(amounts)]
    assert (alarms[-1] is not None) is leaks


def test_a_leak_says_when_it_reaches_its_limit() -> None:
    watch = LeakWatch()
    alarms = [watch.add(float(time), 1e9 + 1e7 * time, limit=4e9) for time in range(200)]
    assert alarms[-1] is not None
    assert alarms[-1].message == "memory grows by 34332 MiB an hour and reaches its limit in 101 s"
