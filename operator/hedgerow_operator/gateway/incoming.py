"""A client's request as it comes in: who asks, how long it may take, and its body, read once within limits."""

import asyncio
import functools
import math
import os
from collections.abc import AsyncIterator, Mapping

from aiohttp import web
from msgspec import Struct

from hedgerow_operator.gateway.reply import RefusedError
from hedgerow_operator.gateway.settings import ApiKeys, EndpointSettings

# A body that comes more slowly than this is not waited for.
_BODY_SECONDS = 30.0
_LEAST_BYTES_PER_SECOND = 16 * 1024
_STAYS = frozenset(
    {
        "authorization", "connection", "content-length", "cookie", "expect", "host", "idempotency-key", "keep-alive",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "x-api-key",
        "accept-encoding", "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
    }
)  # fmt: skip
_OURS = "x-hedgerow-"
# What aiohttp decodes without more packages.
_DECODED = frozenset({"", "identity", "gzip", "deflate"})
DEADLINE, IDEMPOTENT, KEY = "X-Hedgerow-Deadline-Millis", "X-Hedgerow-Idempotent", "Idempotency-Key"


class Incoming(Struct, frozen=True, kw_only=True):
    """path: below the endpoint, with its query. body: whole, unless ``upload`` goes on with it. deadline: by the loop's
    clock. key: of the client, and only for its own requests; empty: none.
    """

    request_id: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    deadline: float
    upload: AsyncIterator[bytes] | None = None
    idempotent: bool = True
    session: str | None = None
    key: str = ""


def client_of(request: web.BaseRequest, keys: ApiKeys | None) -> str:
    """Who asks; empty where everybody may. Raises RefusedError."""
    if keys is None:
        return ""
    given = request.headers.get("Authorization", "")
    scheme, _, token = given.partition(" ")
    key = token if scheme.lower() == "bearer" else given or request.headers.get("X-API-Key", "")
    client = keys.client(key.strip().encode())
    if client is None:
        told = "this API key is not known here" if key else "send an API key, as Authorization: Bearer KEY"
        raise RefusedError(401, told, code="invalid_api_key")
    return client


async def read(request: web.BaseRequest, settings: EndpointSettings, client: str, path: str) -> Incoming:
    """The request with its body. Raises RefusedError."""
    headers = request.headers
    deadline = asyncio.get_running_loop().time() + _seconds(headers.get(DEADLINE), settings.deadline_seconds)
    key = headers.get(KEY, "")
    body, upload = await _body(request, settings.max_body_bytes)
    if upload is not None and key:
        told = f"a request with an {KEY} may have {settings.max_body_bytes} bytes; send this one without the key"
        raise RefusedError(413, told)
    affinity = settings.affinity
    request_id = os.urandom(16).hex()
    passed = {name: value for name, value in headers.items() if _is_passed_on(name)}
    passed[KEY] = request_id  # the same on each attempt: a provider that knows such keys makes it once
    return Incoming(
        request_id=request_id,
        method=request.method,
        path=path,
        headers=passed,
        body=body,
        upload=upload,
        deadline=deadline,
        idempotent=headers.get(IDEMPOTENT, "").strip().lower() != "false",
        session=headers.get(affinity.header) if affinity is not None else None,
        key=f"{client}\n{key}" if key else "",
    )


@functools.lru_cache(maxsize=512)
def _is_passed_on(name: str) -> bool:
    lower = name.lower()
    return lower not in _STAYS and not lower.startswith(_OURS)


def _seconds(millis: str | None, most: float) -> float:
    """Of the deadline header. Raises RefusedError."""
    if millis is None:
        return most
    try:
        seconds = float(millis) / 1000
    except ValueError:
        seconds = math.nan
    if not (seconds > 0 and math.isfinite(seconds)):
        raise RefusedError(400, f"{DEADLINE} has to be a number of milliseconds above 0, such as 60000")
    return min(seconds, most)


async def _body(request: web.BaseRequest, most: int) -> tuple[bytes, AsyncIterator[bytes] | None]:
    content = request.content
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in _DECODED:
        raise RefusedError(415, "Content-Encoding has to be gzip or deflate, or to be left out")
    if content.is_eof():
        return content.read_nowait() if content.total_bytes else b"", None
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    length = request.content_length
    if length is not None and length > most:
        return b"", content.iter_any()
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS + (length or 0) / _LEAST_BYTES_PER_SECOND):
            while len(body) <= most:
                chunk = await content.readany()
                if not chunk:
                    return bytes(body), None
                body += chunk
    except TimeoutError:
        raise RefusedError(408, "the body of the request came too slowly") from None
    except web.RequestPayloadError:
        told = "the body is cut off, or not encoded as Content-Encoding and Transfer-Encoding say"
        raise RefusedError(400, told) from None
    return bytes(body), content.iter_any()
