"""A declared API: what its states and codes mean, how often it is asked, and what is not declared."""

import asyncio

import pytest
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.declared.declaration import HTTP_STATUS, Declaration
from hedgerow_operator.adapters.providers.declared.provider import DeclaredHTTP
from hedgerow_operator.adapters.providers.setup import Secrets
from hedgerow_operator.core.hedging.receipts import Evidence
from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway.adapters.watching import ended, rig_of, until
from tests.gateway.conformance import faults
from tests.gateway.conformance.queue_api import QueueApi
from tests.gateway.conformance.serving import serving
from tests.gateway.conformance.world import World
from tests.gateway.rigs import JOB, SCALE, declaration, setup_of


async def test_an_output_is_found_where_it_was_declared_to_be() -> None:
    async with rig_of("a declared API of jobs") as rig:
        update = (await ended(await rig.provider.submit(rig.call)))[-1]
        assert update.answer is not None
        assert update.answer.output == {"echo": {"prompt": "hello"}}
        assert rig.world.bodies == [("submit", {"arguments": {"prompt": "hello"}})]


async def test_without_a_declared_cancel_a_loser_is_leaked_and_the_receipt_says_why() -> None:
    async with serving(QueueApi(world := World(SCALE))) as url:
        world.run = 400.0
        provider = DeclaredHTTP(setup_of("declared"), replace(declaration(url), cancel=None))
        attempt = await provider.submit(JOB)
        await until(lambda: bool(world.jobs))
        receipt = await attempt.cancel()
        await provider.close()
    assert (receipt.evidence, receipt.leaked) == (Evidence.NONE, True)
    assert "no way to cancel is declared" in receipt.note


@pytest.mark.parametrize(
    "taken",
    [faults.answer(409, '{"detail": "running jobs cannot be stopped"}'), faults.answer(200, '{"canceled": false}')],
    ids=["refused, as by Together", "answered well though it is not done, as by Baseten"],
)
async def test_a_cancel_that_does_not_stop_a_running_job_leaves_it_leaked(taken: faults.Fault) -> None:
    async with rig_of("a declared API of jobs") as rig:
        rig.world.run = 400.0
        attempt = await rig.provider.submit(rig.call)
        rig.world.misbehave("cancel", taken, stays=True)
        receipt = await attempt.cancel()
        assert receipt.leaked
        assert not receipt.terminal_status
        assert receipt.note


async def test_a_state_may_be_told_by_the_http_status_alone() -> None:
    async with serving(QueueApi(world := World(SCALE))) as url:
        states = {"200": AttemptState.VALID, "202": AttemptState.RUNNING}
        provider = DeclaredHTTP(setup_of("declared"), replace(declaration(url), state=HTTP_STATUS, states=states))
        world.misbehave("status", *[faults.answer(202, "{}")] * 3)
        shown = [update.state for update in await ended(await provider.submit(JOB))]
        await provider.close()
    assert shown == [AttemptState.QUEUED, AttemptState.RUNNING, AttemptState.VALID]


async def test_it_is_asked_as_seldom_as_declared() -> None:
    async with serving(QueueApi(world := World(SCALE))) as url:
        provider = DeclaredHTTP(setup_of("declared"), replace(declaration(url), poll_seconds=10.0))
        await ended(await provider.submit(JOB))
        await provider.close()
    assert world.count("status") == 1, "its job of 5 s is over at the first look, after 10"


async def test_health_is_asked_only_where_a_call_for_it_is_declared() -> None:
    async with rig_of("a declared API of jobs") as rig:
        health = await rig.provider.health()
        assert health.ok
        assert "not asked" in health.sentence
        assert not rig.world.asked


def test_a_key_that_the_secret_lacks_is_named_when_the_provider_is_made() -> None:
    declared: Declaration = declaration("https://api.example")
    with pytest.raises(ValueError, match="wants the key apiKey"):
        DeclaredHTTP(replace(setup_of("declared"), secrets=Secrets({"other": "x"})), declared)


async def test_the_limit_of_its_account_is_kept() -> None:
    async with serving(QueueApi(world := World(SCALE))) as url:
        setup = setup_of("declared")
        limited = replace(setup, limits=replace(setup.limits, per_ten_seconds=2))
        provider = DeclaredHTTP(replace(limited, scale=1.0), declaration(url))
        results = await asyncio.gather(*(provider.submit(JOB) for _call in range(5)), return_exceptions=True)
        await provider.close()
    assert len(world.jobs) == 2
    assert [str(one) for one in results if isinstance(one, Exception)] == ["its rate limit is used up for now"] * 3
