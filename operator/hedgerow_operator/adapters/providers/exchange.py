"""One request and its answer on one connection, whole or as it comes, with an eye on answers that stop coming."""

import asyncio
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Any

import aiohttp
from msgspec import Struct

from hedgerow_operator.adapters.providers.connection import MOST_BYTES, Connection
from hedgerow_operator.adapters.providers.contract import Answer, Call, ProviderError, Update
from hedgerow_operator.adapters.providers.troubles import Reply
from hedgerow_operator.core.hedging.seen import AttemptState

# Without a deadline of the request's own: as long as the longest synchronous call of these providers may run.
LONGEST_SECONDS = 900.0
# Once an answer has begun, so long nothing may come of it. Models may think between two words.
_STALL_SECONDS = 60.0
_STREAM_STALL_SECONDS = 120.0
# The request's own credentials, length and connection are not passed on (RFC 9110 7.6.1).
_OURS = frozenset(
    {"host", "content-length", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect"}
    | {"proxy-authorization", "proxy-authenticate", "proxy-connection", "accept-encoding", "content-encoding"}
)
_FAILURES = frozenset({401, 402, 403, 404, 405, 408, 425, 429})


class Asked(Struct, frozen=True, kw_only=True):
    """what: in words, for errors. body: also in pieces. longest: seconds until its answer must begin.
    stall: seconds without anything of it."""

    what: str
    url: str
    method: str = "POST"
    body: Any = b""
    headers: Mapping[str, str] = {}
    stream: bool = False
    longest: float = LONGEST_SECONDS
    stall: float = _STALL_SECONDS
    scale: float = 1.0


def asked(call: Call, what: str, url: str, scale: float) -> Asked:
    """A call as it is passed on."""
    return Asked(
        what=what,
        url=url,
        method=call.method,
        body=_both(call.body, call.upload) if call.upload is not None else call.body or None,
        headers=passed_on(call.headers),
        stream=call.stream,
        stall=_STREAM_STALL_SECONDS if call.stream else _STALL_SECONDS,
        longest=call.deadline if call.deadline is not None else LONGEST_SECONDS,
        scale=scale,
    )


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """Without those that belong to one connection."""
    return {name: value for name, value in headers.items() if not _is_ours(name)}


@functools.lru_cache(maxsize=512)
def _is_ours(name: str) -> bool:
    return name.lower() in _OURS


Read = Callable[[Reply], Update]


async def exchange(
    connection: Connection, one: Asked, read: Read, begun: aiohttp.ClientResponse | None = None
) -> AsyncGenerator[Update, None]:
    """The conversation for a ChannelAttempt. read: what a whole answer below 400 means. begun: an answer of which the
    rest is to be heard. Raises ProviderError.
    """
    response = begun if begun is not None else await opened(connection, one)
    try:
        pieces = Pieces(connection, one, response)
        if response.status < 200:
            raise ProviderError(f"{one.what} wants to change the protocol, which is not done (HTTP {response.status})")
        if one.stream and response.status < 300:
            yield Update(state=AttemptState.VALID, answer=_streamed(response, pieces))
            await pieces.over.wait()
            return
        yield judged(connection, one, await pieces.whole(), read)
    finally:
        response.close() if not response.content.at_eof() else response.release()


async def opened(connection: Connection, one: Asked) -> aiohttp.ClientResponse:
    """The answer's head. Raises ProviderError."""
    try:
        async with asyncio.timeout(one.longest * one.scale):
            response: aiohttp.ClientResponse = await connection.request(
                one.method, one.url, body=one.body, headers=one.headers
            )
            return response
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
        raise connection.trouble(one.what, error) from None


def judged(connection: Connection, one: Asked, reply: Reply, read: Read) -> Update:
    """What a whole answer means: 5xx and what is the provider's own are failures, the client's mistakes are answers."""
    if reply.status >= 500 or reply.status in _FAILURES:
        error = connection.refusal(one.what, reply)
        return Update(state=AttemptState.FAILED, error=error, answer=as_answer(reply))
    if 300 <= reply.status < 400:
        moved = ProviderError(f"{one.what} was answered by a redirect, which is not followed (HTTP {reply.status})")
        return Update(state=AttemptState.FAILED, error=moved)
    return read(reply)


def as_answer(reply: Reply) -> Answer:
    """As it came."""
    return Answer(status=reply.status, headers=passed_on(reply.headers), body=reply.body)


def answered(reply: Reply) -> Update:
    """Whatever it holds."""
    return Update(state=AttemptState.VALID, answer=as_answer(reply))


class Pieces:
    """An answer as it comes: an iterator over bytes that raises ProviderError when they stop before the end."""

    def __init__(self, connection: Connection, one: Asked, response: aiohttp.ClientResponse) -> None:
        self._connection, self._one, self._response = connection, one, response
        self.over = asyncio.Event()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        piece = b"" if self.over.is_set() else await self._next()
        if piece:
            return piece
        self.over.set()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Nobody reads on."""
        self.over.set()

    async def whole(self) -> Reply:
        """All that is still to come."""
        content, body = self._response.content, bytearray()
        if content.is_eof() and content.exception() is None and content.total_bytes <= MOST_BYTES:
            self.over.set()  # it has come with its head, as most answers do
            return self._reply(content.read_nowait() if content.total_bytes else b"")
        async for piece in self:
            body += piece
            if len(body) > MOST_BYTES:
                raise ProviderError(f"{self._one.what}: its answer is longer than {MOST_BYTES >> 20} MiB")
        return self._reply(bytes(body))

    def _reply(self, body: bytes) -> Reply:
        return Reply(status=self._response.status, headers=self._response.headers, body=body)

    async def _next(self) -> bytes:
        try:
            async with asyncio.timeout(self._one.stall * self._one.scale):
                return await self._response.content.readany()
        except TimeoutError:
            why: BaseException = TimeoutError()
            sentence = f"{self._one.what}: its answer began, and then nothing came for {self._one.stall:.0f} s"
            error = ProviderError(sentence)
        except (aiohttp.ClientError, OSError, ValueError) as broken:
            why, error = broken, self._connection.trouble(self._one.what, broken)
        self.over.set()
        raise error from why


def _streamed(response: aiohttp.ClientResponse, pieces: Pieces) -> Answer:
    return Answer(status=response.status, headers=passed_on(response.headers), chunks=pieces)


async def _both(body: bytes, upload: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if body:
        yield body
    async for piece in upload:
        yield piece
