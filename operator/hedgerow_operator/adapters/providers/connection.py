"""One pooled session to a provider; what goes wrong on the way becomes a ProviderError in a sentence."""

import asyncio
import io
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import aiohttp
import msgspec

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.adapters.providers.guard import Forbidden, Guard, guarded_session
from hedgerow_operator.adapters.providers.limiter import Limiter
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Reply, Trouble, refused, scrubbed

# An answer beyond this is no answer of a model: 64 MiB hold ten minutes of sound.
MOST_BYTES = 64 << 20
# Where a provider refuses for its rate without saying for how long.
_PAUSE_SECONDS = 1.0
_LARGE_BYTES = 1 << 20
_NEVER_BEGAN = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)


class Connection:
    """headers: sent with every call, credentials among them; redirects are never followed, so they go nowhere else."""

    def __init__(self, setup: Setup, headers: Mapping[str, str] | None = None, *, guard: Guard | None = None) -> None:
        self._setup = setup
        self._headers = dict(headers or {})
        self._ours = frozenset(name.lower() for name in self._headers)
        self._guard = guard or Guard(setup.allowed_networks)
        self._open: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """Made at the first call, within the loop that uses it."""
        if self._open is None:
            self._open = guarded_session(self._guard)
        return self._open

    async def ask(
        self,
        what: str,
        method: str,
        url: str,
        *,
        json: Any = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        limiter: Limiter | None = None,
        longest_wait: float = 60.0,
        seconds: float | None = None,
    ) -> Reply:
        """One call and its whole answer. what: in words, for errors. seconds: None, as usual. Raises ProviderError,
        also for 400 and more.
        """
        if json is not None:
            body, headers = msgspec.json.encode(json), {"Content-Type": "application/json", **(headers or {})}
        async with limiter.turn(longest_wait) if limiter is not None else nullcontext():
            try:
                async with asyncio.timeout(self._setup.call_seconds if seconds is None else seconds):
                    async with self.request(method, url, body=body, headers=headers) as response:
                        reply = await whole(response)
            except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
                raise self.trouble(what, error) from None
        if reply.status >= 400:
            trouble = self.refusal(what, reply)
            if reply.status == 429 and limiter is not None:
                limiter.hold(_PAUSE_SECONDS if trouble.retry_after is None else trouble.retry_after)
            raise trouble
        return reply

    def request(self, method: str, url: str, *, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        """An open call, as aiohttp has it. Our headers count, whatever else says so."""
        sent = {name: value for name, value in (headers or {}).items() if name.lower() not in self._ours}
        sent.update(self._headers)
        if isinstance(body, bytes) and len(body) > _LARGE_BYTES:
            # Else it is written at once, and nothing else goes on meanwhile.
            body = io.BytesIO(body)
        return self.session.request(method, url, data=body, headers=sent, allow_redirects=False)

    def trouble(self, what: str, error: BaseException) -> Trouble:
        """What an exception on the way means."""
        began = not isinstance(error, _NEVER_BEGAN)
        return Trouble(self.scrubbed(f"{what}: {_why(error)}"), safe_to_retry=not began)

    def refusal(self, what: str, reply: Reply) -> Trouble:
        """What an answer of 400 or more means."""
        return refused(what, reply, self._setup.secrets.values())

    def scrubbed(self, sentence: str) -> str:
        """Without our secrets, whoever has put them there."""
        return scrubbed(sentence, self._setup.secrets.values())

    async def close(self) -> None:
        """Close the session."""
        if self._open is not None:
            await self._open.close()
            self._open = None


async def whole(response: aiohttp.ClientResponse) -> Reply:
    """The rest of an answer. Raises ValueError when there is too much of it."""
    pieces = bytearray()
    async for piece in response.content.iter_any():
        pieces += piece
        if len(pieces) > MOST_BYTES:
            raise ValueError(f"its answer is longer than {MOST_BYTES >> 20} MiB")
    return Reply(status=response.status, headers=response.headers, body=bytes(pieces))


def read_json(what: str, reply: Reply) -> Any:
    """Raises ProviderError where the answer is no JSON."""
    try:
        return reply.json()
    except ValueError as error:
        raise ProviderError(f"{what} was answered by what is {error}") from None


def _why(error: BaseException) -> str:
    if isinstance(error, Forbidden):
        return str(error.strerror)
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"{error.host} cannot be reached ({error.os_error.strerror or error.os_error})"
    if isinstance(error, TimeoutError):
        return "there was no answer in time"
    if isinstance(error, aiohttp.InvalidURL):
        return "its address is no URL"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | ConnectionResetError):
        return "the connection broke before the answer was whole"
    if isinstance(error, aiohttp.ClientResponseError):
        return "its answer is no HTTP that can be read"
    return str(error) or type(error).__name__
