"""A provider that fails is left alone within a few requests, tried again later, and never are too many left alone."""

import pytest

from hedgerow_operator.core.hedging.breaker import Breakers, Circuit
from hedgerow_operator.core.hedging.retry_budget import RetryBudget


def fail(breakers: Breakers, name: str, times: int, at: float = 0.0) -> None:
    for _ in range(times):
        breakers.launched(name, at)
        breakers.ended(name, False, at)


def test_three_failures_in_a_row_are_enough() -> None:
    breakers = Breakers("ab")
    fail(breakers, "a", 2)
    assert breakers.allows("a", 0.0)
    fail(breakers, "a", 1)
    assert not breakers.allows("a", 0.0)
    assert breakers.allows("b", 0.0)


def test_half_of_the_newest_is_enough_where_others_succeed_between() -> None:
    breakers = Breakers("ab")
    for number in range(8):
        breakers.ended("a", number % 2 == 0, float(number))
    assert breakers.states(8.0)["a"] is Circuit.OPEN


def test_a_failure_now_and_then_is_none_of_its_business() -> None:
    breakers = Breakers("ab")
    for number in range(100):
        breakers.ended("a", number % 5 != 0, float(number))
    assert breakers.states(100.0)["a"] is Circuit.CLOSED


def test_failures_of_an_hour_ago_do_not_count() -> None:
    breakers = Breakers("ab")
    fail(breakers, "a", 2)
    fail(breakers, "a", 1, 3600.0)
    assert breakers.allows("a", 3600.0)


def test_it_is_tried_again_by_one_attempt_at_a_time() -> None:
    breakers = Breakers("ab")
    fail(breakers, "a", 3)
    assert not breakers.allows("a", 4.9)
    assert breakers.allows("a", 5.0)
    breakers.launched("a", 5.0)
    assert not breakers.allows("a", 5.1)
    breakers.ended("a", True, 6.0)
    assert breakers.states(6.0)["a"] is Circuit.CLOSED


def test_each_probe_that_fails_doubles_the_pause_up_to_a_minute() -> None:
    breakers, now, pauses = Breakers("ab"), 0.0, []
    fail(breakers, "a", 3)
    for _ in range(6):
        began = now
        while not breakers.allows("a", now):
            now += 0.5
        pauses.append(now - began)
        fail(breakers, "a", 1, now)
    assert pauses == [5, 10, 20, 40, 60, 60]


def test_a_probe_that_was_given_up_shows_nothing_and_makes_room_for_another() -> None:
    breakers = Breakers("ab")
    fail(breakers, "a", 3)
    breakers.launched("a", 5.0)
    breakers.ended("a", None, 6.0)
    assert breakers.states(6.0)["a"] is Circuit.HALF_OPEN
    assert breakers.allows("a", 6.0)


def test_attempts_from_before_that_fail_late_do_not_make_the_pause_longer() -> None:
    breakers = Breakers("ab")
    fail(breakers, "a", 3)
    for _ in range(10):
        breakers.ended("a", False, 1.0)
    assert breakers.allows("a", 5.0)


@pytest.mark.parametrize(("providers", "most"), [("a", 0), ("ab", 1), ("abc", 1), ("abcd", 2)])
def test_never_is_more_than_half_of_them_left_alone(providers: str, most: int) -> None:
    breakers = Breakers(providers)
    for name in providers:
        fail(breakers, name, 20)
    assert sum(not breakers.allows(name, 0.0) for name in providers) == most


def test_hedges_end_when_half_of_the_tokens_are_gone_and_come_back_slowly() -> None:
    tokens = RetryBudget(most=10, ratio=0.1)
    for _ in range(4):
        tokens.ended(well=False)
    assert tokens.allows
    tokens.ended(well=False)
    assert not tokens.allows
    tokens.ended(well=True)
    assert tokens.allows


def test_a_long_outage_costs_no_more_than_all_tokens() -> None:
    tokens = RetryBudget(most=10, ratio=0.5)
    for _ in range(1000):
        tokens.ended(well=False)
    successes = 0
    while not tokens.allows:
        tokens.ended(well=True)
        successes += 1
    assert successes == 11
