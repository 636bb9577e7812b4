"""What tests of one provider share: its rig, and all that an attempt shows."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from hedgerow_operator.adapters.providers.contract import Attempt, Update
from tests.gateway.conformance.world import World
from tests.gateway.rigs import MAKERS, SCALE, Rig

_LIMIT_SECONDS = 90.0


@asynccontextmanager
async def rig_of(name: str) -> AsyncIterator[Rig]:
    """By its name in MAKERS."""
    async with MAKERS[name](World(SCALE)) as rig:
        yield rig


async def ended(attempt: Attempt) -> list[Update]:
    """All that it shows."""
    async with asyncio.timeout(_LIMIT_SECONDS):
        return [update async for update in attempt.updates()]


async def until(true: Callable[[], bool]) -> None:
    """Within the time that any of these takes."""
    async with asyncio.timeout(_LIMIT_SECONDS):
        while not true():
            await asyncio.sleep(0.001)
