"""What a provider may answer instead of what it should."""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web

Fault = Callable[[web.Request], Awaitable[web.StreamResponse]]


def answer(status: int, body: bytes | str = b"", **headers: str) -> Fault:
    """Just this. Underscores in header names are hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named.setdefault("Content-Type", "application/json")
    raw = body.encode() if isinstance(body, str) else body

    async def answered(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, body=raw, headers=named)

    return answered


UNAUTHORIZED = answer(401, '{"detail": "invalid api key"}')
BROKEN = answer(500, "<html>Internal Server Error</html>", Content_Type="text/html")
NOT_FOUND = answer(404, '{"error": "not found"}')
NO_MONEY = answer(402, '{"error": {"message": "balance too low"}}')

# The shapes of reference/providers.md 11.5, each asking for a pause of 2 s or less.
LIMITS = {
    "problem details and RateLimit headers (RunPod)": answer(
        429,
        '{"title": "Too Many Requests", "status": 429, "detail": "slow down", "errors": []}',
        Content_Type="application/problem+json",
        RateLimit='"minute";r=0;t=2',
        RateLimit_Policy='"minute";q=60;w=60',
    ),
    "a detail with a threshold (Vast)": answer(429, '{"detail": "API requests too frequent endpoint threshold=1.5"}'),
    "text that says when it resets (Replicate)": answer(
        429, '{"detail": "Request was throttled. Your rate limit resets in ~2s."}'
    ),
    "a field retry_after (Baseten)": answer(429, '{"error": "rate limited", "retry_after": 2}'),
    "Retry-After in seconds": answer(429, "slow down", Content_Type="text/plain", Retry_After="2"),
    "Retry-After as a date, of a clock a year off": answer(
        429, "", Retry_After="Tue, 01 Jan 2030 00:00:02 GMT", Date="Tue, 01 Jan 2030 00:00:00 GMT"
    ),
    "nothing that says how long": answer(429, ""),
}

LONG_PAUSE = answer(429, "", Retry_After="600")

HOSTILE = {
    "no JSON": answer(200, "<html>welcome</html>"),
    "nothing": answer(200, ""),
    "NaN": answer(200, '{"id": NaN, "status": NaN, "call_id": NaN, "output": NaN}'),
    "a list": answer(200, "[1, 2, 3]"),
    "text": answer(200, '"COMPLETED"'),
    "null": answer(200, "null"),
    "wrong types": answer(200, '{"id": {"a": 1}, "status": ["COMPLETED"], "call_id": [], "state": 7, "url": 5}'),
    "no UTF-8": answer(200, b'{"id": "\xff\xfe", "status": "\xff"}'),
    "nested too deep": answer(200, b"[" * 200_000),
    "numbers beyond measure": answer(200, '{"id": 1e999, "delayTime": -1, "executionTime": 1' + "0" * 400 + "}"),
    "an unknown state": answer(200, '{"id": "x", "call_id": "x", "status": "PONDERING", "state": "pondering"}'),
}


async def dies(request: web.Request) -> web.StreamResponse:
    """The connection breaks without an answer."""
    assert request.transport is not None
    request.transport.abort()
    raise asyncio.CancelledError


async def truncated(request: web.Request) -> web.StreamResponse:
    """The connection breaks in the middle of the body."""
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"id": "job-1", "sta')
    assert request.transport is not None
    request.transport.close()
    return response


async def stalls(request: web.Request) -> web.StreamResponse:
    """The first byte, and then nothing."""
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b"{")
    await asyncio.sleep(3600)
    return response


async def silent(_request: web.Request) -> web.StreamResponse:
    """No answer at all."""
    await asyncio.sleep(3600)
    return web.Response()
