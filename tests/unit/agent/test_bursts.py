"""Lines that are printed as they come are told from lines that were held back in a buffer."""

from __future__ import annotations

import pytest

from hedgerow.bursts import Bursts

SECOND = 1_000_000_000
MILLISECOND = SECOND // 1000


def evenly(count: int, every: int, lines: int = 1) -> list[tuple[int, int]]:
    """``lines`` lines for each step, a step ``every`` nanoseconds."""
    return [(step * every, step) for step in range(count) for _ in range(lines)]


def held_back(bursts: int, every: int, steps: int) -> list[tuple[int, int]]:
    """``steps`` steps at once, again and again."""
    return [(burst * every + step * 1000, burst * steps + step) for burst in range(bursts) for step in range(steps)]


ARRIVALS: dict[str, tuple[list[tuple[int, int]], bool]] = {
    "a line a step": (evenly(50, 2 * SECOND), False),
    "several lines for each step": (evenly(50, 2 * SECOND, lines=6), False),
    "a fast job": (evenly(2000, 2 * MILLISECOND), False),
    "a fast job that pauses": (
        evenly(500, MILLISECOND) + [(9 * SECOND + t, s) for t, s in evenly(500, MILLISECOND)],
        False,
    ),
    "a block-buffered pipe": (held_back(4, 30 * SECOND, 27), True),
    "one burst alone": (held_back(2, 30 * SECOND, 27), False),
    "bursts too quick to matter": (held_back(20, SECOND // 2, 5), False),
    "two steps at once now and then": (held_back(20, 4 * SECOND, 2), False),
    "a buffer that is switched off": (
        held_back(4, 30 * SECOND, 27) + [(120 * SECOND + t, 108 + s) for t, s in evenly(20, 2 * SECOND)],
        False,
    ),
}


@pytest.mark.parametrize(("arrivals", "bursty"), ARRIVALS.values(), ids=ARRIVALS.keys())
def test_bursts_are_recognised(arrivals: list[tuple[int, int]], bursty: bool) -> None:
    bursts = Bursts()
    for time_ns, step in arrivals:
        bursts.add(time_ns, step)
    assert bursts.bursty is bursty


def test_what_comes_together_is_one_arrival_but_not_for_ever() -> None:
    bursts = Bursts()
    together = [bursts.add(at * MILLISECOND, at) for at in range(1000)]
    assert together.count(False) == 4
