"""An account: held before the launch, settled once by what is known, and the two ledgers apart."""

import asyncio

import pytest

from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt
from hedgerow_operator.gateway.ports import Ended, Ending
from tests.gateway.money.doubles import (
    ENDPOINT,
    Now,
    ScriptedAttempt,
    ScriptedProvider,
    books,
    dollars,
    held_by,
    launch,
    loser,
    terminal,
)

EACH = 1_000_000_000


async def test_of_two_hundred_parallel_launches_as_many_are_made_as_can_be_paid() -> None:
    provider, kept = ScriptedProvider(), books()
    account, _, _ = kept.parts(ENDPOINT, [provider], dollars("1000"))
    made = await asyncio.gather(*(account.reserve(launch(provider)) for _ in range(200)))
    assert sum(held is not None for held in made) == 10
    assert kept.spending(ENDPOINT).held == 1000.0
    assert account.refused == 190
    await kept.close()


@pytest.mark.parametrize(
    ("ended", "cost", "measured"),
    [
        (Ended(ending=Ending.WON, seconds=5.0), 5.0, False),
        (Ended(ending=Ending.WON, seconds=5.0, execution_seconds=3.0), 3.0, False),
        (Ended(ending=Ending.WON, seconds=5.0, execution_seconds=3.0, cost=2.5), 2.5, True),
        (Ended(ending=Ending.INVALID, seconds=5.0), 5.0, False),
        (Ended(ending=Ending.LOST, seconds=5.0), 5.0, False),
        (Ended(ending=Ending.REFUSED, seconds=5.0), 0.0, True),
    ],
    ids=[
        "an answer without figures is reckoned by our clock",
        "an answer with its execution is reckoned by that",
        "an answer with its cost is measured",
        "an invalid answer costs as much as a valid one",
        "an attempt that failed after it began costs its time",
        "an attempt that was refused costs nothing",
    ],
)
async def test_what_an_attempt_costs(ended: Ended, cost: float, measured: bool) -> None:
    provider, kept = ScriptedProvider(), books()
    account, _, _ = kept.parts(ENDPOINT, [provider])
    held = await held_by(account, provider)
    held.taken("job-1")
    held.settle(ended)
    held.settle(Ended(ending=Ending.LOST, seconds=1000.0))
    spending = kept.spending(ENDPOINT)
    assert (spending.day, spending.held) == (cost, 0.0)
    assert spending.measured_day == (cost if measured else 0.0)
    await kept.close()


@pytest.mark.parametrize(
    ("receipt", "cost", "measured"),
    [
        (terminal("j", estimated_cost=0.0), 0.0, 0.0),
        (terminal("j", estimated_cost=4.0, reconciled_cost=3.0), 3.0, 3.0),
        (terminal("j"), 7.0, 0.0),
        (Receipt(provider="a", job_id="j", evidence=Evidence.CHANNEL_CLOSED, estimated_cost=4.0), 100.0, 0.0),
    ],
    ids=[
        "one that was cancelled in a free queue costs nothing",
        "what the provider says counts, and is measured",
        "one that is seen to have ended costs the time until then",
        "one that may run on costs all that was held for it",
    ],
)
async def test_what_a_loser_costs(receipt: Receipt, cost: float, measured: float) -> None:
    provider, now = ScriptedProvider(), Now()
    kept = books(now=now)
    account, losers, _ = kept.parts(ENDPOINT, [provider])
    held = await held_by(account, provider)
    now.at += 7
    losers.give(loser(held, provider, ScriptedAttempt("j", [receipt])))
    assert await kept.until_quiet(ENDPOINT, 5)
    spending = kept.spending(ENDPOINT)
    assert (spending.day, spending.measured_day) == (cost, measured)
    assert spending.leaked == receipt.leaked
    await kept.close()


async def test_a_loser_without_proof_that_ran_longer_than_was_held_costs_that() -> None:
    provider, now = ScriptedProvider(), Now()
    kept = books(now=now)
    account, losers, _ = kept.parts(ENDPOINT, [provider])
    held = await held_by(account, provider)
    now.at += 300
    losers.give(loser(held, provider, ScriptedAttempt("j", [Receipt(provider="a", job_id="j")])))
    assert await kept.until_quiet(ENDPOINT, 5)
    assert kept.spending(ENDPOINT).day == 300.0
    await kept.close()


async def test_a_submit_without_an_answer_may_run_for_all_we_know_and_has_a_receipt_that_says_so() -> None:
    provider, kept = ScriptedProvider(), books()
    account, _, _ = kept.parts(ENDPOINT, [provider])
    (await held_by(account, provider)).settle(Ended(ending=Ending.LOST, seconds=5.0))
    (given,) = kept.receipts()
    assert given.receipt.leaked
    assert given.why == "its provider did not say whether it has taken it"
    assert (kept.spending(ENDPOINT).day, kept.spending(ENDPOINT).leaked) == (100.0, 1)
    await kept.close()


async def test_case_g05_a_stream_that_dies_is_charged_by_its_provider_though_the_client_got_a_failure() -> None:
    provider, kept = ScriptedProvider(), books()
    account, losers, _ = kept.parts(ENDPOINT, [provider])
    held = await held_by(account, provider)
    losers.give(loser(held, provider, ScriptedAttempt("j", [terminal("j", estimated_cost=9.0)]), "the stream broke"))
    assert await kept.until_quiet(ENDPOINT, 5)
    assert account.tally("a").cost[False, False] == 9 * EACH
    assert account.tally("a").cost[True, False] == account.tally("a").cost[True, True] == 0
    await kept.close()


async def test_case_g06_an_estimate_is_never_told_as_measured() -> None:
    provider, kept = ScriptedProvider(), books()
    account, _, _ = kept.parts(ENDPOINT, [provider])
    held = await held_by(account, provider)
    held.taken("job-1")
    held.settle(Ended(ending=Ending.LOST, seconds=23.17))
    spending = kept.spending(ENDPOINT)
    assert (spending.day, spending.measured_day) == (23.17, 0.0)
    await kept.close()


async def test_case_g12_what_other_attempts_cost_is_kept_apart_from_the_one_that_served() -> None:
    provider, other, kept = ScriptedProvider(), ScriptedProvider("b"), books()
    account, losers, _ = kept.parts(ENDPOINT, [provider, other])
    served, lost = await held_by(account, provider), await held_by(account, other, first=False)
    served.settle(Ended(ending=Ending.WON, seconds=2.0, cost=2.0))
    losers.give(loser(lost, other, ScriptedAttempt("j", [terminal("j", estimated_cost=5.0)])))
    assert await kept.until_quiet(ENDPOINT, 5)
    assert account.tally("a").cost[True, True] == 2 * EACH
    assert account.tally("b").cost[False, False] == 5 * EACH
    await kept.close()


async def test_case_g16_every_attempt_is_counted_hedged_or_not() -> None:
    provider, kept = ScriptedProvider(), books()
    account, losers, _ = kept.parts(ENDPOINT, [provider])
    for first in (True, False, False):
        held = await held_by(account, provider, first=first)
        losers.give(loser(held, provider, ScriptedAttempt("j", [terminal("j")])))
    assert await kept.until_quiet(ENDPOINT, 5)
    tally = account.tally("a")
    assert tally.attempts == 3
    assert sum(tally.receipts.values()) == 3
    await kept.close()


async def test_hedges_stop_before_first_attempts_do() -> None:
    provider, kept = ScriptedProvider(), books()
    account, _, _ = kept.parts(ENDPOINT, [provider], dollars("500"))
    for _ in range(4):
        await held_by(account, provider)
    assert not account.may_hedge()
    assert await account.reserve(launch(provider, first=False)) is None
    await held_by(account, provider)
    assert await account.reserve(launch(provider)) is None
    assert kept.spending(ENDPOINT).exhausted
    await kept.close()


async def test_new_limits_count_at_once_and_what_was_spent_goes_on() -> None:
    provider, kept = ScriptedProvider(), books()
    account, _, _ = kept.parts(ENDPOINT, [provider], dollars("100"))
    held = await held_by(account, provider)
    assert await account.reserve(launch(provider)) is None
    again, _, _ = kept.parts(ENDPOINT, [provider], dollars("200"))
    assert again is account
    await held_by(again, provider)
    assert await again.reserve(launch(provider)) is None
    held.settle(Ended(ending=Ending.REFUSED, seconds=0.0))
    await held_by(again, provider)
    await kept.close()


async def test_a_gateway_of_several_spends_only_its_lease_and_remembers_it(tmp_path: object) -> None:
    provider, kept = ScriptedProvider(), books(share=True)
    account, _, _ = kept.parts(ENDPOINT, [provider], dollars("1000"))
    assert await account.reserve(launch(provider)) is None
    kept.lease(ENDPOINT, Limits(200 * EACH, None))
    await held_by(account, provider)
    await held_by(account, provider)
    assert await account.reserve(launch(provider)) is None
    asked = kept.asked("gateway-0", ENDPOINT)
    assert (asked.lease.hourly, asked.used.hourly) == (200 * EACH, 200 * EACH)
    await kept.close()


async def test_an_amount_that_is_none_is_refused_with_a_sentence() -> None:
    kept = books()
    with pytest.raises(ValueError, match=r'spec.budget.hourlyUSD is .five.; write US dollars as text, such as "5"'):
        kept.parts(ENDPOINT, [ScriptedProvider()], dollars("five"))
    await kept.close()
