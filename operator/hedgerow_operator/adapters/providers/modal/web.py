"""A web function: answers on the connection, or after 150 s by a 303 to where it can be waited for.

modal.com/docs/guide/webhook-timeouts
"""

from collections.abc import AsyncGenerator
from urllib.parse import urljoin

import aiohttp
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import ProviderError, Update
from hedgerow_operator.adapters.providers.exchange import Asked, answered, exchange, opened
from hedgerow_operator.adapters.providers.modal.credentials import proxy_auth
from hedgerow_operator.adapters.providers.passthrough import PassThrough
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.values import address

# The documented length of the chain, about 50 minutes.
_MOST_HOPS = 20
_SEE_OTHER = 303


class Modal(PassThrough):
    """See Provider. url: https://WORKSPACE--LABEL.modal.run. Secret: tokenId and tokenSecret of a proxy auth token."""

    def __init__(self, setup: Setup, url: str) -> None:
        super().__init__(setup, url, headers=proxy_auth(setup))

    async def _exchange(self, one: Asked) -> AsyncGenerator[Update, None]:
        response = await opened(self._connection, one)
        for _hop in range(_MOST_HOPS):
            if response.status != _SEE_OTHER:
                break
            one = replace(one, method="GET", body=None, url=self._next(one, response))
            response.release()
            response = await opened(self._connection, one)
        async for update in exchange(self._connection, one, answered, response):
            yield update

    def _next(self, one: Asked, response: aiohttp.ClientResponse) -> str:
        """Where to wait on: the same host only, since our token goes there."""
        where = response.headers.get("Location", "")
        try:
            url = urljoin(one.url, where)
        except ValueError:
            url = ""
        asked, there = address(one.url), address(url)
        if asked is None or there is None or there[:2] != asked[:2]:
            response.close()
            raise ProviderError(f"{self.name} was answered by a redirect to another host, which is not followed")
        return url
