"""Files that answers name by a URL: fetched past the guard, within bounds, and never from a private network."""

import asyncio
import re
from urllib.parse import urljoin, urlsplit

import aiohttp

from hedgerow_operator.adapters.providers.guard import Forbidden, Guard, guarded_session

MOST_BYTES = 128 << 20
_SECONDS = 30.0
_MOST_REDIRECTS = 3
_SCHEMES = ("http", "https")


class NotFetched(Exception):
    """The message is a sentence. It names the host alone: what follows may be signed, and so a secret."""


class Fetching:
    """allowed_networks: CIDRs that may be asked although they are private."""

    def __init__(
        self, allowed_networks: tuple[str, ...] = (), most: int = MOST_BYTES, seconds: float = _SECONDS
    ) -> None:
        self._guard, self._most, self._seconds = Guard(allowed_networks, private=False), most, seconds
        self._open: aiohttp.ClientSession | None = None

    async def fetch(self, url: str) -> bytes:
        """Raises NotFetched."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._followed(url)
        except TimeoutError:
            raise NotFetched(f"what {_host(url)} holds did not come within {self._seconds:g} s") from None

    async def close(self) -> None:
        """Let go of the session."""
        if self._open is not None:
            await self._open.close()
            self._open = None

    async def _followed(self, url: str) -> bytes:
        if self._open is None:
            self._open = guarded_session(self._guard)
        for _hop in range(_MOST_REDIRECTS + 1):
            if urlsplit(url).scheme not in _SCHEMES:
                raise NotFetched("the answer's file is neither at http:// nor at https://")
            try:
                found = await self._asked(self._open, url)
            except (aiohttp.ClientError, OSError, ValueError) as error:
                if isinstance(error, TimeoutError):
                    raise
                raise NotFetched(f"{_host(url)} cannot be asked for the file ({_why(error)})") from None
            if isinstance(found, bytes):
                return found
            url = found
        raise NotFetched(f"{_host(url)} redirects too often")

    async def _asked(self, session: aiohttp.ClientSession, url: str) -> bytes | str:
        """The file, or where it has moved."""
        async with session.get(url, allow_redirects=False) as response:
            if 300 <= response.status < 400 and "Location" in response.headers:
                return urljoin(url, response.headers["Location"])
            if response.status != 200:
                raise NotFetched(f"{_host(url)} answered for the file by HTTP {response.status}")
            return await self._read(response, url)

    async def _read(self, response: aiohttp.ClientResponse, url: str) -> bytes:
        body = bytearray()
        async for piece in response.content.iter_any():
            body += piece
            if len(body) > self._most:
                raise NotFetched(f"the file at {_host(url)} is larger than {self._most >> 20} MiB")
        return bytes(body)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "the answer's URL"
    except ValueError:
        return "the answer's URL"


def _why(error: BaseException) -> str:
    """Without the URL, which aiohttp writes into some of its messages."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, Forbidden) or (isinstance(cause, OSError) and cause.strerror):
        return re.sub(r"^\[Errno \d+\] ", "", cause.strerror or str(cause))
    return type(error).__name__
