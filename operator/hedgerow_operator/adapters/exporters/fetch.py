"""The text of an exporter over HTTP, within a time and a size, whatever is at the other end."""

from __future__ import annotations

import aiohttp

# An exporter answers out of its memory; one that needs longer than this is not well.
CONNECT_SECONDS = 2.0
TOTAL_SECONDS = 5.0
# A node of 16 GPUs, each cut into 7 instances, with every counter there is: two megabytes.
MAX_BYTES = 4 * 2**20
_CHUNK = 2**16
# Compressed text could become anything; and what we ask for is not on the way of any proxy.
_HEADERS = {"Accept": "text/plain;version=0.0.4", "Accept-Encoding": "identity"}


class NoAnswer(Exception):
    """There is no text; the message is the end of a sentence."""


class Fetch:
    """One pool of connections, kept between scrapes. To be entered within a running loop."""

    def __init__(
        self, most_at_once: int, total_seconds: float = TOTAL_SECONDS, connect_seconds: float = CONNECT_SECONDS
    ) -> None:
        self._most = most_at_once
        self._timeout = aiohttp.ClientTimeout(total=total_seconds, connect=connect_seconds)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Fetch:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._most, limit_per_host=1, keepalive_timeout=60.0),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=self._timeout,
            headers=_HEADERS,
            auto_decompress=False,
            trust_env=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def text(self, url: str) -> str:
        """Raises NoAnswer."""
        assert self._session is not None
        try:
            async with self._session.get(url, allow_redirects=False) as response:
                if response.status != 200:
                    raise NoAnswer(f"answers with HTTP {response.status}")
                return (await _body(response)).decode("utf-8", "replace")
        except TimeoutError:
            raise NoAnswer(f"does not answer within {self._timeout.total:.0f} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NoAnswer(f"cannot be asked: {str(error) or type(error).__name__}") from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > MAX_BYTES:
            raise NoAnswer(f"serves more than {MAX_BYTES // 2**20} MiB")
    return bytes(body)
