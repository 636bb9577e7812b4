"""What holds for every provider, each against a server that imitates it: answers, failures, limits, cancels."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Attempt, ProviderError, Update
from hedgerow_operator.core.hedging.receipts import Evidence
from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway import rigs
from tests.gateway.conformance import faults
from tests.gateway.conformance.world import Shape, World
from tests.gateway.rigs import CANCELS, HTTP, LOOKS, MAKERS, SCALE, Rig

# Nothing here may take longer; a call that hangs is given up after 30 s.
_LIMIT_SECONDS = 90.0


@pytest.fixture(params=MAKERS)
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """Each adapter with its provider, or those that a test names."""
    async with MAKERS[request.param](World(SCALE)) as made:
        yield made


over_http = pytest.mark.parametrize("rig", HTTP, indirect=True)
with_looks = pytest.mark.parametrize("rig", LOOKS, indirect=True)
with_cancels = pytest.mark.parametrize("rig", CANCELS, indirect=True)


async def ended(attempt: Attempt) -> list[Update]:
    """All that it shows."""
    async with asyncio.timeout(_LIMIT_SECONDS):
        return [update async for update in attempt.updates()]


async def outcome(rig: Rig) -> ProviderError | Update:
    """Of one attempt; only a ProviderError may come out of an adapter."""
    async with asyncio.timeout(_LIMIT_SECONDS):
        try:
            attempt = await rig.provider.submit(rig.call)
        except ProviderError as error:
            return error
        updates = await ended(attempt)
        await attempt.cancel()
        return updates[-1]


async def failure(rig: Rig) -> ProviderError:
    """Of one attempt that fails, at its submit or after it."""
    found = await outcome(rig)
    if isinstance(found, Update):
        assert found.state is AttemptState.FAILED, found
        assert found.error is not None
        found = found.error
    assert "secret" not in str(found)
    return found


async def begun(rig: Rig, *, running: bool) -> tuple[Attempt, asyncio.Task[list[Update]]]:
    """An attempt whose job waits, or runs, while somebody watches it."""
    attempt = await rig.provider.submit(rig.call)
    watch = asyncio.create_task(ended(attempt))
    async with asyncio.timeout(_LIMIT_SECONDS):
        while not rig.world.jobs or (running and next(iter(rig.world.jobs.values())).state == "queued"):
            await asyncio.sleep(0.001)
        # A look or two, so that the adapter has seen it as well.
        await asyncio.sleep(0.6 * SCALE)
    return attempt, watch


async def test_an_attempt_is_answered_by_what_its_job_gave(rig: Rig) -> None:
    update = await outcome(rig)
    assert isinstance(update, Update)
    assert update.state is AttemptState.VALID
    assert update.answer is not None
    whole = f"{update.answer.output} {update.answer.body!r}"
    assert "echo" in whole
    assert "hello" in whole


async def test_a_job_that_waits_and_then_runs_is_shown_so_where_the_provider_shows_it(rig: Rig) -> None:
    states = [update.state for update in await ended(await rig.provider.submit(rig.call))]
    assert states[-1] is AttemptState.VALID
    assert len(states) == len(set(states)), "each state is told once"
    assert (AttemptState.RUNNING in states) == rig.provider.shows_start


async def test_a_job_that_fails_is_a_failure_in_words_without_secrets(rig: Rig) -> None:
    rig.world.fails = True
    error = await failure(rig)
    assert not error.safe_to_retry
    assert not error.credentials


@over_http
async def test_credentials_that_are_not_accepted_are_named_as_such(rig: Rig) -> None:
    rig.world.misbehave(rig.submit, faults.UNAUTHORIZED, stays=True)
    error = await failure(rig)
    assert error.credentials
    assert error.safe_to_retry


@over_http
@pytest.mark.parametrize("shape", faults.LIMITS)
async def test_a_rate_limit_is_no_failure_of_the_work_and_says_when_to_come_again(rig: Rig, shape: str) -> None:
    rig.world.misbehave(rig.submit, faults.LIMITS[shape])
    error = await failure(rig)
    assert error.safe_to_retry
    assert not error.exhausted
    if shape != "nothing that says how long":
        assert error.retry_after == pytest.approx(2.0, abs=0.5)


@over_http
async def test_after_a_rate_limit_nothing_is_asked_before_its_time(rig: Rig) -> None:
    rig.world.misbehave(rig.submit, faults.LONG_PAUSE)
    await failure(rig)
    before = rig.world.count(rig.submit)
    error = await failure(rig)
    assert error.safe_to_retry
    assert rig.world.count(rig.submit) == before


@over_http
async def test_money_that_is_used_up_is_told_from_a_limit_that_passes(rig: Rig) -> None:
    rig.world.misbehave(rig.submit, faults.NO_MONEY)
    error = await failure(rig)
    assert error.exhausted
    assert not error.credentials


async def test_a_provider_that_dies_in_mid_call_is_a_failure_that_may_have_begun(rig: Rig) -> None:
    rig.world.misbehave(rig.submit, faults.dies, stays=True)
    assert not (await failure(rig)).safe_to_retry


@over_http
async def test_where_nobody_listens_nothing_can_have_begun(rig: Rig) -> None:
    await rig.api.stop()
    assert (await failure(rig)).safe_to_retry


@pytest.mark.parametrize("fault", ["truncated", "dies"])
async def test_an_answer_that_ends_early_is_a_failure(rig: Rig, fault: str) -> None:
    rig.world.misbehave(rig.submit, getattr(faults, fault), stays=True)
    assert not (await failure(rig)).safe_to_retry


@pytest.mark.parametrize("name", MAKERS)
async def test_an_answer_that_stalls_is_a_failure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rigs, "CALL_SECONDS", 1.0)
    async with MAKERS[name](World(SCALE)) as rig:
        rig.world.misbehave(rig.submit, faults.stalls, stays=True)
        assert not (await failure(rig)).safe_to_retry


@pytest.mark.parametrize("kind", faults.HOSTILE)
async def test_hostile_answers_to_a_submit_raise_nothing_but_provider_errors(rig: Rig, kind: str) -> None:
    rig.world.misbehave(rig.submit, faults.HOSTILE[kind], stays=True)
    assert isinstance(await outcome(rig), ProviderError | Update)
    assert not rig.world.jobs


@with_looks
@pytest.mark.parametrize("kind", faults.HOSTILE)
async def test_hostile_answers_to_the_submit_of_a_job_are_a_failure(rig: Rig, kind: str) -> None:
    rig.world.misbehave(rig.submit, faults.HOSTILE[kind], stays=True)
    await failure(rig)


@with_looks
@pytest.mark.parametrize("kind", faults.HOSTILE)
async def test_hostile_answers_to_a_look_end_in_a_failure(rig: Rig, kind: str) -> None:
    rig.world.misbehave("status", faults.HOSTILE[kind], stays=True)
    await failure(rig)


@with_looks
async def test_a_burst_of_errors_while_looking_does_not_lose_the_job(rig: Rig) -> None:
    rig.world.misbehave("status", *[faults.BROKEN] * 4, faults.dies, faults.LIMITS["Retry-After in seconds"])
    found = await outcome(rig)
    assert isinstance(found, Update)
    assert found.state is AttemptState.VALID
    assert len(rig.world.jobs) == 1, "no second job was begun for it"


@with_looks
async def test_a_result_that_has_expired_is_a_failure_and_asked_for_no_more(rig: Rig) -> None:
    rig.world.expired = True
    await failure(rig)
    asked = rig.world.count("status")
    await asyncio.sleep(2 * SCALE)
    assert rig.world.count("status") == asked


async def test_a_job_cancelled_in_the_queue_ends_with_the_evidence_that_there_can_be(rig: Rig) -> None:
    rig.world.queue = 300.0
    attempt, watch = await begun(rig, running=False)
    receipt = await attempt.cancel()
    assert (receipt.evidence, receipt.leaked) == rig.traits.stopped
    if receipt.evidence is Evidence.TERMINAL:
        assert receipt.terminal_status
        assert rig.world.alive == 0
    assert (await watch)[-1].state is AttemptState.FAILED


async def test_a_job_cancelled_while_it_runs_ends_with_the_evidence_that_there_can_be(rig: Rig) -> None:
    rig.world.run = 200.0
    attempt, watch = await begun(rig, running=True)
    receipt = await attempt.cancel()
    assert (receipt.evidence, receipt.leaked) == rig.traits.stopped
    assert receipt.provider == rig.provider.name
    if rig.traits.cancels:
        assert rig.world.alive == 0
    assert receipt.estimated_cost is None or 0 < receipt.estimated_cost < 1
    await watch


async def test_a_cancel_that_is_acknowledged_while_the_job_runs_on_is_not_taken_for_its_end(rig: Rig) -> None:
    rig.world.run, rig.world.cancel_works = 400.0, False
    attempt, watch = await begun(rig, running=True)
    receipt = await attempt.cancel()
    assert (receipt.evidence, receipt.leaked) == rig.traits.runs_on
    assert not receipt.terminal_status
    watch.cancel()
    await asyncio.wait([watch])


@with_cancels
async def test_a_job_that_the_cancel_does_not_know_is_leaked_until_something_else_is_seen(rig: Rig) -> None:
    rig.world.run = 400.0
    attempt, watch = await begun(rig, running=True)
    rig.world.misbehave("cancel", faults.NOT_FOUND, stays=True)
    receipt = await attempt.cancel()
    assert receipt.leaked
    assert receipt.note
    rig.world.faults.clear()
    assert (await attempt.cancel()).leaked or rig.world.alive == 0
    watch.cancel()
    await asyncio.wait([watch])


@with_looks
async def test_a_cancel_that_meets_a_rate_limit_is_sent_again(rig: Rig) -> None:
    rig.world.run = 400.0
    attempt, watch = await begun(rig, running=True)
    rig.world.misbehave("cancel", faults.LIMITS["Retry-After in seconds"], faults.BROKEN)
    receipt = await attempt.cancel()
    assert not receipt.leaked
    assert rig.world.count("cancel") == 3
    await watch


async def test_an_attempt_that_has_answered_needs_no_cancel_to_be_proven_over(rig: Rig) -> None:
    attempt = await rig.provider.submit(rig.call)
    await ended(attempt)
    receipt = await attempt.cancel()
    assert receipt.evidence is Evidence.TERMINAL
    assert not receipt.leaked
    assert rig.world.count("cancel") == 0


@with_looks
async def test_a_job_that_answers_in_spite_of_its_cancel_is_still_an_answer(rig: Rig) -> None:
    rig.world.cancel_works = False
    attempt, watch = await begun(rig, running=True)
    await attempt.cancel()
    assert (await watch)[-1].state is AttemptState.VALID


async def test_a_job_of_which_only_the_id_is_left_is_ended_or_honestly_leaked(rig: Rig) -> None:
    rig.world.run = 200.0
    attempt, watch = await begun(rig, running=True)
    receipt = await rig.provider.recover(attempt.job_id)
    assert receipt.leaked or rig.traits.stops_alone or rig.world.alive == 0
    assert (receipt.evidence is Evidence.TERMINAL) == (rig.world.alive == 0)
    await attempt.cancel()
    await watch


async def test_health_is_told_without_beginning_any_work(rig: Rig) -> None:
    assert (await rig.provider.health()).sentence is not None
    assert not rig.world.jobs


async def test_a_provider_that_is_down_says_so_in_its_health_and_raises_nothing(rig: Rig) -> None:
    for kind in ("health", "workers"):
        rig.world.misbehave(kind, faults.BROKEN, stays=True)
    health = await rig.provider.health()
    assert health.ok or health.sentence


async def test_twenty_requests_of_many_lengths_are_each_answered_by_their_own_job(rig: Rig) -> None:
    rig.world.shape, rig.world.scale = Shape(seed=7, cold_share=0.1), SCALE / 5
    call = rig.call
    calls = [replace(call, body=call.body.replace(b"hello", b"hello-%d" % number)) for number in range(20)]
    attempts = await asyncio.gather(*(rig.provider.submit(one) for one in calls))
    for number, updates in enumerate(await asyncio.gather(*map(ended, attempts))):
        answer = updates[-1].answer
        assert answer is not None
        assert f"hello-{number}" in f"{answer.output} {answer.body!r}"
