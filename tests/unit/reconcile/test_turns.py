"""Who reports at regular intervals is spread over time; who comes alone keeps the interval."""

import heapq
from collections import Counter

import pytest

from hedgerow_operator.reconcile.turns import Turns


def arrivals(first: list[float], interval: float, until: float) -> Counter[int]:
    """How many come in each second, when each comes again as it was told."""
    turns, coming, seen = Turns(), list(first), Counter[int]()
    heapq.heapify(coming)
    while coming[0] < until:
        now = heapq.heappop(coming)
        seen[int(now)] += 1
        heapq.heappush(coming, now + turns.place(interval, now))
    return seen


# Who comes first when, and how many times the even number come in the worst second after half a minute at most.
CROWDS = {
    "all within a second": ([second / 5000 for second in range(5000)], 2.1),
    "for longer than the interval": ([14.0 * order / 5000 for order in range(5000)], 1.2),
    "spread already": ([10.0 * order / 5000 for order in range(5000)], 1.2),
    "in two waves": ([order / 2500 + wave for order in range(2500) for wave in (0.0, 3.0)], 1.4),
}


@pytest.mark.parametrize(("crowd", "most"), CROWDS.values(), ids=CROWDS.keys())
@pytest.mark.parametrize("interval", [5.0, 10.0])
def test_a_crowd_is_spread_over_the_interval_and_stays_so(crowd: list[float], most: float, interval: float) -> None:
    seen = arrivals(crowd, interval, until=90.0)
    even = len(crowd) / interval
    assert max(seen[second] for second in range(30, 89)) <= most * even
    assert sum(seen[second] for second in range(30, 80)) <= 1.05 * 50 * even


def test_few_keep_the_interval_also_when_they_come_together() -> None:
    turns = Turns()
    assert {turns.place(5.0, 0.05) for _ in range(10)} == {5.0}


def test_nobody_comes_before_a_fifth_of_the_interval_or_after_it() -> None:
    turns = Turns()
    waits = [turns.place(10.0, 0.0) for _ in range(100_000)]
    assert (min(waits) >= 2.0, max(waits)) == (True, 10.0)


def test_a_clock_that_leaps_and_an_interval_that_is_long_are_no_trouble() -> None:
    turns = Turns()
    for now in (0.0, 1e6, 1e6 + 0.01, 5e6):
        assert [turns.place(seconds, now) for seconds in (0.01, 5.0, 3600.0)] == [0.01, 5.0, 3600.0]
