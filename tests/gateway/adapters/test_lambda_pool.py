"""Lambda's machines: launched and ended within its limits, and never anybody else's."""

from collections.abc import AsyncIterator

import pytest

from hedgerow_operator.adapters.providers.contract import ProviderError
from tests.gateway.adapters.watching import rig_of
from tests.gateway.rigs import Rig


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """One machine of the pool, one of somebody else."""
    async with rig_of("Lambda") as made:
        yield made


def _names(rig: Rig) -> list[str]:
    return sorted(name for name, _ready in rig.api.machines.values())


async def test_machines_are_launched_until_there_are_as_many_as_wanted(rig: Rig) -> None:
    assert await rig.provider.set_warm(3)
    assert _names(rig) == ["pool", "pool", "pool", "somebody else's"]
    assert rig.world.count("launch") == 2


async def test_machines_without_work_are_ended_and_those_of_others_left_alone(rig: Rig) -> None:
    await rig.provider.set_warm(0)
    assert _names(rig) == ["somebody else's"]


async def test_a_machine_that_has_work_is_kept(rig: Rig) -> None:
    rig.world.run = 4000.0
    attempt = await rig.provider.submit(rig.call)
    await rig.provider.set_warm(0)
    assert "pool" in _names(rig)
    await attempt.cancel()


async def test_that_there_is_no_capacity_is_said_in_lambda_s_words(rig: Rig) -> None:
    rig.api.capacity = False
    with pytest.raises(ProviderError, match="Not enough capacity"):
        await rig.provider.set_warm(2)


async def test_without_a_machine_a_request_is_refused_before_it_began(rig: Rig) -> None:
    del rig.api.machines["i-1"]
    with pytest.raises(ProviderError, match="no machine in the pool") as caught:
        await rig.provider.submit(rig.call)
    assert caught.value.safe_to_retry
    assert caught.value.retry_after is not None


async def test_a_machine_that_boots_is_waited_for_elsewhere(rig: Rig) -> None:
    rig.api.machines["i-1"] = ("pool", float("inf"))
    with pytest.raises(ProviderError, match="none of the 1 machines"):
        await rig.provider.submit(rig.call)
    assert not (await rig.provider.health()).ok
