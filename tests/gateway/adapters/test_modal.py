"""Modal's chain of redirects, and its wrapper."""

from collections.abc import AsyncIterator

import pytest

from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway.adapters.watching import ended, rig_of
from tests.gateway.conformance import faults
from tests.gateway.rigs import Rig


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """A web function."""
    async with rig_of("Modal's web function") as made:
        yield made


async def test_a_long_call_is_waited_for_over_the_chain_of_redirects(rig: Rig) -> None:
    rig.api.hop_seconds, rig.world.run = 1.0, 16.0
    update = (await ended(await rig.provider.submit(rig.call)))[-1]
    assert update.state is AttemptState.VALID
    assert 3 <= rig.world.count("wait") < 20
    assert rig.world.count("submit") == 1
    assert len(rig.world.jobs) == 1


async def test_a_chain_without_an_end_is_a_failure(rig: Rig) -> None:
    rig.api.hop_seconds, rig.world.run = 0.1, 4000.0
    update = (await ended(await rig.provider.submit(rig.call)))[-1]
    assert update.state is AttemptState.FAILED
    assert rig.world.count("wait") == 20


@pytest.mark.parametrize("where", ["http://169.254.169.254/", "https://elsewhere.example/", "http://[", ""])
async def test_a_redirect_elsewhere_is_not_followed_with_our_token(rig: Rig, where: str) -> None:
    rig.world.misbehave("submit", faults.answer(303, "", Location=where))
    rig.world.misbehave("wait", faults.BROKEN, stays=True)
    update = (await ended(await rig.provider.submit(rig.call)))[-1]
    assert update.state is AttemptState.FAILED


async def test_containers_are_kept_warm_by_the_wrapper_s_autoscaler() -> None:
    async with rig_of("Modal behind our wrapper") as rig:
        assert await rig.provider.set_warm(2)
        assert rig.world.warm == 2
        health = await rig.provider.health()
        assert (health.warm, health.queued) == (1, 0)
