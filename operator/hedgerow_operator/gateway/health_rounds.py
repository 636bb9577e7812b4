"""Asks each provider for its health now and then, which spends nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from hedgerow_operator.adapters.providers.contract import Health, Provider
from hedgerow_operator.api.serverless_provider import ServerlessProvider
from hedgerow_operator.core.endpoints.provider_status import ProviderHealth
from hedgerow_operator.gateway.desk import Desk, Place

_EVERY_SECONDS = 60.0
_LONGEST_SECONDS = 15.0


class HealthRounds:
    """heard: told of each round; by the place of the ServerlessProvider."""

    def __init__(
        self,
        desk: Desk,
        providers: Iterable[ServerlessProvider],
        heard: Callable[[Mapping[Place, ProviderHealth]], None],
    ) -> None:
        self._desk, self._heard = desk, heard
        self._places: list[Place] = []
        self._changed = asyncio.Event()
        self.newest: dict[Place, ProviderHealth] = {}
        self.follow(providers)

    def follow(self, providers: Iterable[ServerlessProvider]) -> None:
        """From now on these; asked at once where there are others than before."""
        places = [(one.metadata.namespace, one.metadata.name) for one in providers]
        if places != self._places:
            self._places = places
            self._changed.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            self._changed.clear()
            self.newest = await self.once()
            self._heard(self.newest)
            try:
                async with asyncio.timeout(_EVERY_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def once(self) -> dict[Place, ProviderHealth]:
        """Of those that some endpoint uses."""
        asked = {place: provider for place in self._places if (provider := self._desk.provider(*place)) is not None}
        found = await asyncio.gather(*map(health_of, asked.values()))
        return dict(zip(asked, found, strict=True))


async def health_of(provider: Provider) -> ProviderHealth:
    """What it says; one that says nothing in time is not healthy."""
    try:
        async with asyncio.timeout(_LONGEST_SECONDS):
            said: Health = await provider.health()
    except TimeoutError:
        return ProviderHealth(ok=False, sentence=f"it did not answer within {_LONGEST_SECONDS:g} s")
    return ProviderHealth(ok=said.ok, sentence=said.sentence, warm=said.warm, queued=said.queued)
