"""Real money, losers, breakers and checks beneath real races, as a client sees them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import pytest

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.api.inference_spec import Budget
from hedgerow_operator.core.hedging.breaker import Circuit
from hedgerow_operator.core.hedging.fixed import Race
from hedgerow_operator.gateway.books import Books
from hedgerow_operator.gateway.ports import Parts
from hedgerow_operator.gateway.settings import Speaks
from hedgerow_operator.gateway.validators.checker import Checker
from tests.gateway.data_path.gateways import Got, Served, post, serving
from tests.gateway.data_path.scripted import Scripted, answers, fails, gives, hangs, refuses, streams
from tests.gateway.money.doubles import books

ENDPOINT = "team/model"
WORST = 0.03  # ten seconds until the deadline and twenty for the cancel, at a tenth of a cent


class Rig:
    """A gateway with all of its parts."""

    def __init__(self, served: Served, kept: Books) -> None:
        self.served, self.books = served, kept

    async def ask(self, path: str = "/generate", stream: bool = False, **more: object) -> Got:
        return await post(self.served.url + path, {"input": {}, "stream": stream}, **more)

    async def quiet(self) -> None:
        assert await self.books.until_quiet(ENDPOINT, 5)


@contextlib.asynccontextmanager
async def rig(
    *providers: Scripted, budget: Budget | None = None, checks: Sequence[AnswerCheck] = (), **more: object
) -> AsyncIterator[Rig]:
    kept, checker = books(), Checker()
    money, losers, protection = kept.parts(ENDPOINT, providers, budget)
    parts = Parts(
        providers=providers,
        money=money,
        losers=losers,
        protection=protection,
        validators=[checker.validator_of(check) for check in checks],
    )
    try:
        async with serving(*providers, parts=parts, **more) as served:
            yield Rig(served, kept)
    finally:
        await checker.close()
        await kept.close()


async def test_an_invalid_fast_answer_does_not_win_and_is_paid() -> None:
    fast, slow = Scripted("fast", answers(b'{"text": ""}')), Scripted("slow", answers(b'{"text": "hi"}', after=0.2))
    async with rig(fast, slow, checks=[AnswerCheck(type="NonEmpty", at="text")]) as one:
        got = await one.ask()
        assert got.headers["X-Hedgerow-Provider"] == "slow"
        await one.quiet()
        assert one.books.accounts()[ENDPOINT].tally("fast").attempts == 1


async def test_nothing_is_held_once_all_is_over_and_each_loser_has_its_receipt() -> None:
    providers = Scripted("a", hangs()), Scripted("b", answers(after=0.05)), Scripted("c", hangs())
    async with rig(*providers, policy=Race(), max_live=3) as one:
        assert [(await one.ask()).status for _ in range(5)] == [200] * 5
        await one.quiet()
        spending = one.books.spending(ENDPOINT)
        assert (spending.held, spending.leaked) == (0.0, 0)
        assert len(one.books.receipts()) == 10


async def test_two_hundred_requests_at_the_edge_launch_what_can_be_paid_and_no_more() -> None:
    slow, backup = Scripted("a", answers(after=0.5)), Scripted("b", answers(after=0.5))
    budget = Budget(hourly_usd=str(20 * WORST), on_exhausted="Reject")
    async with rig(slow, backup, budget=budget, policy=Race()) as one:
        most = 0.0
        asking = [asyncio.ensure_future(one.ask()) for _ in range(200)]
        while not all(task.done() for task in asking):
            spending = one.books.spending(ENDPOINT)
            most = max(most, spending.held + spending.hour)
            await asyncio.sleep(0.005)
        assert 0.9 * 20 * WORST <= most <= 20 * WORST
        statuses = [task.result().status for task in asking]
        assert set(statuses) == {200, 429}
        assert statuses.count(200) <= 20


async def test_when_money_runs_out_hedges_stop_before_answers_do() -> None:
    slow, backup = Scripted("a", answers(after=0.3)), Scripted("b", answers(after=0.3))
    async with rig(slow, backup, budget=Budget(hourly_usd=str(10 * WORST))) as one:
        got = await asyncio.gather(*(one.ask() for _ in range(9)))
        assert [answer.status for answer in got] == [200] * 9
        assert len(backup.calls) == 0
        await one.quiet()
        assert one.books.spending(ENDPOINT).hour < 10 * WORST


async def test_at_zero_requests_are_refused_in_a_way_that_clients_do_not_try_again() -> None:
    async with rig(Scripted("a", answers()), budget=Budget(hourly_usd="0"), speaks=Speaks.OPENAI) as one:
        got = await one.ask("/v1/chat/completions")
        assert got.status == 429
        assert got.json()["error"]["code"] == "insufficient_quota"


async def test_case_g05_and_g06_of_a_stream_that_dies_both_ledgers_tell_their_own() -> None:
    chunk = b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
    dying = Scripted("a", streams(chunk, 0.05, ProviderError("it broke")))
    async with rig(dying, speaks=Speaks.OPENAI) as one:
        got = await one.ask("/v1/chat/completions", stream=True)
        assert "error" in got.text
        await one.quiet()
        tally = one.books.accounts()[ENDPOINT].tally("a")
        assert tally.cost[True, False] == tally.cost[True, True] == 0
        assert tally.cost[False, False] > 0
        assert tally.cost[False, True] == 0


async def test_case_g13_one_layer_tries_again_and_never_without_end() -> None:
    a, b = Scripted("a", fails()), Scripted("b", fails())
    async with rig(a, b) as one:
        got = await one.ask()
        assert got.status == 502
        assert len(a.calls) + len(b.calls) == 2
        await one.quiet()
        assert sum(tally.attempts for tally in one.books.accounts()[ENDPOINT].tallies.values()) == 2


async def test_case_g23_a_provider_that_failed_is_not_asked_again_for_the_same_request() -> None:
    sick, well = Scripted("a", fails()), Scripted("b", answers())
    async with rig(sick, well) as one:
        assert (await one.ask()).status == 200
        assert (len(sick.calls), len(well.calls)) == (1, 1)


async def test_a_sick_provider_is_left_alone_within_a_few_requests_and_hedges_to_others_go_on() -> None:
    sick, well = Scripted("a", fails()), Scripted("b", answers())
    async with rig(sick, well) as one:
        for _ in range(30):
            assert (await one.ask()).status == 200
        assert len(sick.calls) == 3
        assert one.books.circuits(ENDPOINT)["a"] is Circuit.OPEN


async def test_case_g27_a_rate_limit_is_waited_for_and_an_exhausted_quota_is_not() -> None:
    limited = Scripted("a", refuses("slow down", retry_after=0.2), answers())
    async with rig(limited) as one:
        assert (await one.ask()).status == 200
        assert len(limited.calls) == 2
    exhausted = Scripted("a", refuses("no balance", exhausted=True, retry_after=0.2), answers())
    async with rig(exhausted) as one:
        assert (await one.ask()).status >= 400
        assert len(exhausted.calls) == 1
        assert one.books.spending(ENDPOINT).day == 0.0


@pytest.mark.parametrize("path", ["/run", "/runsync"])
async def test_case_g20_the_same_key_makes_no_second_paid_generation(path: str) -> None:
    provider = Scripted("a", gives({"n": 1}, after=0.05))
    async with rig(provider, speaks=Speaks.JOB) as one:
        key = {"Idempotency-Key": "k1"}
        first, second = await asyncio.gather(*(one.ask(path, headers=key) for _ in range(2)))
        assert first.json()["id"] == second.json()["id"]
        await one.ask(path, headers={"Idempotency-Key": "k2"})
        await one.quiet()
        assert one.books.accounts()[ENDPOINT].tally("a").attempts == 2
