"""The OpenAI and HTTP protocols: what a client asks is asked of providers, and what they answer is its answer."""

import asyncio

from aiohttp import web

from hedgerow_operator.gateway.asking import Asking
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.incoming import Incoming
from hedgerow_operator.gateway.passing_on import headers_of
from hedgerow_operator.gateway.race import Race
from hedgerow_operator.gateway.reply import RefusedError, Reply
from hedgerow_operator.gateway.shaping import body_of, wants_stream
from hedgerow_operator.gateway.streaming import Streaming

_REPLAYED = {"Idempotent-Replayed": "true"}


async def proxy(endpoint: Endpoint, request: web.BaseRequest, incoming: Incoming) -> web.StreamResponse:
    """Raises RefusedError and LostError."""
    stream = wants_stream(incoming)
    if incoming.upload is not None and not any(one.can_stream for one in endpoint.providers.values()):
        most = endpoint.settings.max_body_bytes
        raise RefusedError(413, f"the body is larger than the {most} bytes that this endpoint takes")
    if not incoming.key:
        return await _answer(endpoint, request, incoming, stream)
    kept = await endpoint.once.begin(incoming, wait=not stream)
    if kept is not None:
        return Reply(status=kept.status, headers={**kept.headers, **_REPLAYED}, body=kept.body).response()
    reply: Reply | None = None
    try:
        if stream:
            streaming = Streaming(endpoint, request)
            response = await streaming.answer(_race(endpoint, incoming, stream=True), keep=True)
            reply = streaming.kept
            return response
        reply = await whole(endpoint, incoming)
        return reply.response()
    finally:
        if reply is not None:
            endpoint.once.keep(incoming.key, reply)
        else:
            endpoint.once.forget(incoming.key)


async def whole(endpoint: Endpoint, incoming: Incoming) -> Reply:
    """The whole answer. Raises LostError."""
    won = await _race(endpoint, incoming, stream=False).run()
    loop = asyncio.get_running_loop()
    loop.call_soon(won.run.finish, loop.time())  # the client is not kept waiting for it
    return Reply(status=won.answer.status, headers=headers_of(won), body=body_of(won.answer))


async def _answer(endpoint: Endpoint, request: web.BaseRequest, incoming: Incoming, stream: bool) -> web.StreamResponse:
    if stream:
        return await Streaming(endpoint, request).answer(_race(endpoint, incoming, stream=True), keep=False)
    return (await whole(endpoint, incoming)).response()


def _race(endpoint: Endpoint, incoming: Incoming, *, stream: bool) -> Race:
    return Race(endpoint, Asking(endpoint, incoming, stream=stream).ask())
