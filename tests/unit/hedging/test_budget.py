"""Money: the worst case is held before each attempt, and no window is ever above its limit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow_operator.core.hedging.budget import Budget, Hold, Limits, OnExhausted
from hedgerow_operator.core.hedging.charges import NOTHING, Charge
from hedgerow_operator.core.hedging.spent import DAY, HOUR


def first(amount: int, provider: str = "a") -> Hold:
    return Hold(provider, amount)


def hedge(amount: int, provider: str = "b") -> Hold:
    return Hold(provider, amount, first=False)


def test_two_hundred_launches_at_the_edge_get_exactly_what_is_left() -> None:
    budget = Budget(Limits(hourly=1000))
    taken = [budget.reserve(first(90), 0.0) for _ in range(200)]
    assert taken.count(True) == 11
    assert budget.left(0.0) == 10


def test_what_is_released_can_be_held_again() -> None:
    budget = Budget(Limits(hourly=100))
    assert budget.reserve(first(100), 0.0)
    assert not budget.reserve(first(1), 0.0)
    budget.settle(first(100), NOTHING, 1.0)
    assert budget.reserve(first(100), 1.0)


def test_what_was_spent_counts_for_an_hour_and_for_a_day() -> None:
    budget = Budget(Limits(hourly=100, daily=150))
    budget.charge("a", Charge(100), 0.0)
    assert not budget.reserve(first(1), HOUR - 1)
    assert not budget.reserve(first(60), HOUR + 120)
    assert budget.reserve(first(50), HOUR + 120)
    budget.settle(first(50), Charge(50), HOUR + 120)
    assert budget.left(DAY + 1500) == 100


def test_what_is_held_counts_however_long_it_is_held() -> None:
    budget = Budget(Limits(hourly=100))
    assert budget.reserve(first(100), 0.0)
    assert not budget.reserve(first(1), 10 * HOUR)


@pytest.mark.parametrize(
    ("mode", "hedges", "firsts"),
    [(OnExhausted.STOP_HEDGING, 8, 2), (OnExhausted.REJECT, 10, 0)],
    ids=["StopHedging keeps a fifth for first attempts", "Reject gives all to whoever comes first"],
)
def test_when_money_runs_out(mode: OnExhausted, hedges: int, firsts: int) -> None:
    budget = Budget(Limits(hourly=100), mode)
    assert [budget.reserve(hedge(10), 0.0) for _ in range(20)].count(True) == hedges
    assert not budget.may_hedge(0.0)
    assert [budget.reserve(first(10), 0.0) for _ in range(20)].count(True) == firsts
    assert not budget.reserve(first(1), 0.0)


def test_hedges_leave_as_much_as_first_attempts_have_held_at_once() -> None:
    budget = Budget(Limits(hourly=100))
    for _ in range(4):
        assert budget.reserve(first(10), 0.0)
    for _ in range(4):
        budget.settle(first(10), NOTHING, 0.0)
    assert [budget.reserve(hedge(10), 0.0) for _ in range(20)].count(True) == 6


def test_an_endpoint_without_limits_never_ends() -> None:
    budget = Budget()
    assert all(budget.reserve(hedge(10**15), 0.0) for _ in range(10))
    assert budget.may_hedge(0.0)
    assert budget.left(0.0) is None


def test_estimates_are_never_counted_as_measured() -> None:
    budget = Budget()
    budget.charge("a", Charge(7), 0.0)
    budget.charge("a", Charge(5, measured=True), 0.0)
    assert budget.total(HOUR, 0.0, measured=True) == 5
    assert budget.total(HOUR, 0.0, measured=False) == 7
    assert budget.spent["a"].total(DAY, 0.0) == 12


def test_more_than_was_held_is_charged_when_a_provider_says_so_and_stops_what_follows() -> None:
    budget = Budget(Limits(hourly=100))
    assert budget.reserve(first(50), 0.0)
    budget.settle(first(50), Charge(120, measured=True), 0.0)
    assert budget.left(0.0) == -20
    assert not budget.reserve(first(0), 0.0)


steps = st.lists(
    st.tuples(st.sampled_from(["reserve", "hedge", "settle", "leak"]), st.integers(0, 60), st.floats(0, 400)),
    max_size=120,
)


@settings(max_examples=200, deadline=None)
@given(steps, st.integers(0, 300), st.sampled_from(OnExhausted))
def test_in_no_hour_is_ever_spent_and_held_more_than_the_limit(
    moves: list[tuple[str, int, float]], limit: int, mode: OnExhausted
) -> None:
    budget, now = Budget(Limits(hourly=limit), mode), 0.0
    held: list[Hold] = []
    charged: list[tuple[float, int]] = []
    for what, amount, passed in moves:
        now += passed
        if what in ("reserve", "hedge"):
            hold = Hold("a", amount, what == "reserve")
            if budget.reserve(hold, now):
                held.append(hold)
        elif held:
            hold = held.pop(0)
            cost = hold.amount if what == "leak" else min(hold.amount, amount)
            budget.settle(hold, Charge(cost), now)
            charged.append((now, cost))
        spent = sum(cost for at, cost in charged if now - at <= HOUR)
        assert spent + sum(hold.amount for hold in held) <= limit
        assert budget.holding == sum(hold.amount for hold in held)
