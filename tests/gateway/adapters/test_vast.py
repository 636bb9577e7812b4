"""Vast: the router, the worker that it names, and who sees the key."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway.adapters.watching import ended, rig_of
from tests.gateway.conformance import faults
from tests.gateway.rigs import Rig


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """Router and worker."""
    async with rig_of("Vast") as made:
        yield made


async def test_while_no_worker_is_free_the_attempt_is_shown_as_queued(rig: Rig) -> None:
    rig.api.busy = 3
    states = [update.state for update in await ended(await rig.provider.submit(rig.call))]
    assert states == [AttemptState.QUEUED, AttemptState.RUNNING, AttemptState.VALID]
    assert rig.world.count("route") == 4


async def test_a_router_that_never_finds_a_worker_fails_by_the_deadline_before_anything_began(rig: Rig) -> None:
    rig.api.busy = 10_000
    update = (await ended(await rig.provider.submit(replace(rig.call, deadline=5.0))))[-1]
    assert update.error is not None
    assert update.error.safe_to_retry
    assert not rig.world.jobs


async def test_the_worker_is_shown_the_router_s_signature_and_never_the_key(rig: Rig) -> None:
    await ended(await rig.provider.submit(rig.call))
    request = next(one for one in rig.world.requests if one.path == "/generate")
    assert "Authorization" not in request.headers
    _kind, body = rig.world.bodies[-1]
    assert body["payload"] == {"prompt": "hello"}
    assert set(body["auth_data"]) == {"signature", "cost", "endpoint", "reqnum", "url", "request_idx"}


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254", "http://10.0.0.1", "file:///etc/passwd", "http://u:p@x", "http://["]
)
async def test_a_worker_at_an_address_that_no_worker_has_is_not_asked(rig: Rig, url: str) -> None:
    rig.world.misbehave("route", faults.answer(200, f'{{"url": "{url}", "signature": "s"}}'))
    update = (await ended(await rig.provider.submit(rig.call)))[-1]
    assert update.state is AttemptState.FAILED


async def test_health_counts_the_workers_that_are_ready_and_a_bare_error_is_one(rig: Rig) -> None:
    assert (await rig.provider.health()).warm == 1
    rig.world.misbehave("health", faults.answer(200, '"endpoint not found"'))
    health = await rig.provider.health()
    assert not health.ok
    assert "endpoint not found" in health.sentence


async def test_workers_are_kept_warm_by_cold_workers(rig: Rig) -> None:
    assert await rig.provider.set_warm(3)
    assert rig.world.warm == 3
