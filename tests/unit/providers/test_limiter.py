"""Limits that providers document: so many starts in a window, so many at a time, pauses that they ask for."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.adapters.providers.limiter import Limiter, Limiters, Window
from hedgerow_operator.adapters.providers.setup import Secrets, Setup


def test_as_many_as_allowed_start_at_once_and_the_next_when_the_window_is_over() -> None:
    window = Window(3, 10.0)
    assert [window.take(at) for at in (0.0, 1.0, 2.0)] == [0.0, 1.0, 2.0]
    assert [window.take(2.0) for _more in range(4)] == [10.0, 11.0, 12.0, 20.0]


def test_an_interval_is_a_window_of_one() -> None:
    window = Window(1, 4.5)
    assert [window.take(0.0) for _call in range(3)] == [0.0, 4.5, 9.0]


def test_a_pause_that_the_provider_asked_for_holds_everybody() -> None:
    window = Window(100, 10.0)
    window.hold(7.0)
    window.hold(3.0)
    assert window.take(1.0) == 7.0
    assert window.take(8.0) == 8.0


@given(
    st.integers(1, 5),
    st.floats(0.5, 20.0),
    st.lists(st.tuples(st.floats(0.0, 5.0), st.floats(0.0, 30.0)), max_size=60),
)
def test_no_window_ever_holds_more_starts_than_allowed(
    count: int, seconds: float, steps: list[tuple[float, float]]
) -> None:
    window, now, starts = Window(count, seconds), 0.0, list[float]()
    for passed, pause in steps:
        now += passed
        if pause > 25.0:
            window.hold(now + pause)
        starts.append(window.take(now))
    assert starts == sorted(starts)
    for first, later in zip(starts, starts[count:], strict=False):
        assert later - first >= seconds * (1 - 1e-9)


async def test_who_would_wait_too_long_is_told_when_to_come_again_and_takes_no_turn() -> None:
    limiter = Limiter(1, 100.0)
    async with limiter.turn():
        pass
    for _more in range(2):
        with pytest.raises(ProviderError, match="rate limit") as caught:
            await _turn(limiter, longest=1.0)
        assert caught.value.safe_to_retry
        assert caught.value.retry_after == pytest.approx(100.0, abs=1.0)


async def test_no_more_run_at_a_time_than_allowed() -> None:
    limiter, running, most = Limiter(concurrent=3), 0, 0

    async def one() -> None:
        nonlocal running, most
        async with limiter.turn():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*(one() for _call in range(20)))
    assert most == 3


async def test_who_finds_no_place_in_time_is_refused_and_a_place_is_free_after_a_failure() -> None:
    limiter = Limiter(concurrent=1, scale=0.01)
    with pytest.raises(ZeroDivisionError):
        await _turn(limiter, longest=1.0, then=_fail)
    async with limiter.turn():
        with pytest.raises(ProviderError, match="rate limit"):
            await _turn(limiter, longest=1.0)
    await _turn(limiter, longest=1.0)


async def test_without_a_limit_nobody_waits_until_the_provider_asks_for_it() -> None:
    limiter = Limiter()
    for _call in range(1000):
        await _turn(limiter, longest=0.0)
    limiter.hold(60.0)
    with pytest.raises(ProviderError):
        await _turn(limiter, longest=1.0)


async def _fail() -> None:
    raise ZeroDivisionError


async def _nothing() -> None:
    pass


async def _turn(limiter: Limiter, longest: float, then: object = _nothing) -> None:
    async with limiter.turn(longest):
        await then()  # type: ignore[operator]


RUNPOD = "https://api.runpod.ai/v2/ep"
OTHERS: dict[str, tuple[Setup, str, str]] = {
    "another account": (Setup(name="a", secrets=Secrets({"apiKey": "another"})), RUNPOD, "run"),
    "another place": (Setup(name="a", secrets=Secrets({"apiKey": "key"})), f"{RUNPOD}2", "run"),
    "another kind of call": (Setup(name="a", secrets=Secrets({"apiKey": "key"})), RUNPOD, "status"),
}


def test_whoever_asks_the_same_place_as_the_same_account_shares_a_limiter() -> None:
    limiters = Limiters()
    one, other = (Setup(name=name, secrets=Secrets({"apiKey": "key"}), limiters=limiters) for name in "ab")
    kept = one.limiter(RUNPOD, "run", 1000, concurrent=200)
    assert other.limiter(RUNPOD, "run", 1000, concurrent=200) is kept
    assert other.limiter(RUNPOD, "run", 500, concurrent=200) is not kept


@pytest.mark.parametrize("case", OTHERS)
def test_a_limiter_is_not_shared_with(case: str) -> None:
    limiters = Limiters()
    kept = Setup(name="a", secrets=Secrets({"apiKey": "key"}), limiters=limiters).limiter(RUNPOD, "run", 1000)
    setup, place, call = OTHERS[case]
    assert replace(setup, limiters=limiters).limiter(place, call, 1000) is not kept
