"""One request over several providers, without a server."""

import asyncio
import contextlib

import pytest

from hedgerow_operator.adapters.providers.contract import Answer, Call
from hedgerow_operator.core.hedging.adaptive import Adaptive
from hedgerow_operator.core.hedging.cutover import QueueCutover
from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge
from hedgerow_operator.core.hedging.fixed import Race as RaceAll
from hedgerow_operator.gateway import race
from hedgerow_operator.gateway.asked import Accepted, Ask, LostError, WhyLost
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.race import Race, Won
from hedgerow_operator.gateway.settings import Affinity, ProviderUse
from tests.gateway.data_path.gateways import endpoint, until
from tests.gateway.data_path.scripted import Scripted, answers, fails, hangs, refuses


async def accept(use: ProviderUse, answer: Answer) -> Accepted:
    return Accepted(answer, "it is empty" if answer.body == b"" else "")


def asked(seconds: float = 5.0, **more: object) -> Ask:
    now = asyncio.get_running_loop().time()
    usual = {"request_id": "r1", "call": lambda use, left: Call(deadline=left), "accept": accept}
    return Ask(deadline=now + seconds, **{**usual, **more})  # type: ignore[arg-type]


async def run(served: Endpoint, seconds: float = 5.0, **more: object) -> Won:
    won = await Race(served, asked(seconds, **more)).run()
    won.run.finish(asyncio.get_running_loop().time())
    await asyncio.sleep(0)  # what it leaves behind is remembered once its answer is on its way
    return won


async def test_an_invalid_fast_answer_does_not_win() -> None:
    a, b = Scripted("a", answers(b"")), Scripted("b", answers(b"good", after=0.1))
    served = endpoint(a, b)
    won = await run(served)
    assert (won.provider, won.attempts) == ("b", 2)
    assert served.statistics().providers[0].attempts["invalid"] == 1


async def test_the_late_answer_of_a_cancelled_attempt_counts_while_nothing_has_won() -> None:
    a = Scripted("a", answers(b"late", after=0.2, queued=0.15))
    b = Scripted("b", hangs())
    won = await run(endpoint(a, b, policy=QueueCutover(cutover_seconds=0.05, safety_seconds=1.0)))
    assert won.provider == "a"
    assert a.cancelled == ["a-1"]


async def test_a_queue_is_looked_at_when_the_policy_asked_for_it() -> None:
    a, b = Scripted("a", hangs(queued=True)), Scripted("b", answers(b"b's"))
    won = await run(endpoint(a, b, policy=QueueCutover(cutover_seconds=0.05, safety_seconds=5.0)))
    assert won.provider == "b"


async def test_no_hedge_is_lost_by_the_rounding_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    began, time = loop.time(), loop.time
    for number in range(100):
        # A loop that has run for so long; what it has waited since is the same.
        ahead = number * 1.7 + began - time()
        monkeypatch.setattr(loop, "time", lambda ahead=ahead: time() + ahead)
        won = await run(endpoint(Scripted("a", hangs()), Scripted("b", answers()), policy=Fixed(0.003)), seconds=0.2)
        monkeypatch.undo()
        assert won.provider == "b"


async def test_a_switch_to_a_provider_that_fails_does_not_lose_the_request() -> None:
    a, b, c = Scripted("a", hangs(queued=True)), Scripted("b", fails()), Scripted("c", answers(b"c's"))
    won = await run(endpoint(a, b, c, policy=QueueCutover(cutover_seconds=0.02, safety_seconds=5.0)))
    assert won.provider == "c"


async def test_nothing_is_given_up_for_what_could_not_be_paid() -> None:
    a, b = Scripted("a", answers(b"a's", after=0.2, queued=0.15)), Scripted("b", answers(b"b's"))
    served = endpoint(a, b, policy=QueueCutover(cutover_seconds=0.02, safety_seconds=0.1))
    served.parts.money.may_hedge = lambda: False  # type: ignore[method-assign]
    assert (await run(served)).provider == "a"
    assert (a.cancelled, b.calls) == ([], [])


async def test_adaptive_starts_a_backup_beside_a_queued_attempt() -> None:
    a = Scripted("a", hangs(queued=True))
    b = Scripted("b", answers(b"b's", after=0.1, queued=0.01))
    policy = Adaptive(cutover_seconds=0.05, safety_seconds=1.0, escalate_seconds=2.0)
    won = await run(endpoint(a, b, policy=policy))
    assert (won.provider, a.cancelled) == ("b", ["a-1"])


async def test_an_attempt_that_is_still_being_submitted_is_ended_once_it_has_a_name() -> None:
    course = answers(b"late")
    a = Scripted("a", type(course)(steps=course.steps, submit_after=0.2))
    b = Scripted("b", answers(b"b's"))
    served = endpoint(a, b, policy=Fixed(after_seconds=0.02))
    assert (await run(served)).provider == "b"
    assert a.cancelled == []
    await until(lambda: a.cancelled == ["a-1"])
    await until(lambda: not served.work)


async def test_at_most_so_many_attempts_live() -> None:
    providers = [Scripted(name, hangs()) for name in "abcd"]
    served = endpoint(*providers, policy=RaceAll(), max_live=2)
    with pytest.raises(LostError) as lost:
        await run(served, 0.2)
    assert lost.value.why is WhyLost.DEADLINE
    assert sum(len(one.calls) for one in providers) == 2


async def test_hedges_are_a_share_of_the_requests() -> None:
    a, b = Scripted("a", answers(b"slow", after=0.03)), Scripted("b", answers(b"quick"))
    served = endpoint(a, b, policy=Fixed(after_seconds=0.005), max_extra_load=0.1)
    for _request in range(40):
        await run(served)
    assert len(b.calls) <= 10 + 4


async def test_a_hedge_that_was_held_back_comes_once_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "_AGAIN_SECONDS", 0.05)
    a, b = Scripted("a", hangs()), Scripted("b", answers(b"b's"))
    served = endpoint(a, b, policy=Fixed(after_seconds=0.01))
    rooms = iter([False, False, False])
    served.parts.money.may_hedge = lambda: next(rooms, True)  # type: ignore[method-assign]
    assert (await run(served)).provider == "b"


async def test_a_request_that_may_not_be_made_twice_is_not_switched_either() -> None:
    a, b = Scripted("a", answers(b"a's", after=0.2, queued=0.1)), Scripted("b", answers(b"b's"))
    served = endpoint(a, b, policy=QueueCutover(cutover_seconds=0.02, safety_seconds=0.1))
    assert (await run(served, idempotent=False)).provider == "a"
    assert (a.cancelled, b.calls) == ([], [])


async def test_a_session_stays_where_its_cache_is() -> None:
    a, b = Scripted("a", refuses("busy"), answers(b"a's")), Scripted("b", answers(b"b's"))
    served = endpoint(a, b, policy=NoHedge(), affinity=Affinity(header="X-Session"))
    assert [(await run(served, session="s1")).provider for _ in range(3)] == ["b", "b", "b"]
    assert (await run(served, session="s2")).provider == "a"


async def test_providers_share_the_requests_by_weight() -> None:
    a, b = Scripted("a", answers()), Scripted("b", answers())
    uses = (ProviderUse(name="a", weight=3), ProviderUse(name="b", weight=1))
    served = endpoint(a, b, providers=uses)
    for _request in range(8):
        await run(served)
    assert (len(a.calls), len(b.calls)) == (6, 2)


async def test_who_asks_to_wait_is_not_asked_by_other_requests_meanwhile() -> None:
    a, b = Scripted("a", refuses("busy", retry_after=5.0)), Scripted("b", answers())
    served = endpoint(a, b, policy=NoHedge())
    for _request in range(3):
        assert (await run(served)).provider == "b"
    assert len(a.calls) == 1


async def test_whoever_leaves_in_mid_race_leaves_nothing_running() -> None:
    a, b = Scripted("a", hangs()), Scripted("b", hangs())
    served = endpoint(a, b, policy=RaceAll())
    racing = asyncio.ensure_future(Race(served, asked()).run())
    await until(lambda: len(a.calls) + len(b.calls) == 2)
    racing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await racing
    await until(lambda: not served.work)
    assert (a.cancelled, b.cancelled) == (["a-1"], ["b-1"])


async def test_what_is_learned_makes_the_next_hedge_come_sooner() -> None:
    quick = answers(b"quick", after=0.02, queued=0.005)
    a = Scripted("a", *[quick] * 8, hangs(queued=True))
    b = Scripted("b", answers(b"b's", after=0.02, queued=0.005))
    served = endpoint(a, b, policy=Adaptive(cutover_seconds=3.0))
    for _request in range(8):
        assert (await run(served)).provider == "a"
    served.learned._paces.clear()
    began = asyncio.get_running_loop().time()
    assert (await run(served)).provider == "b"
    assert asyncio.get_running_loop().time() - began < 0.5
