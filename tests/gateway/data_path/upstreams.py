"""Real servers behind the gateway, which answer, hang, die, lie or refuse as a test says."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from aiohttp import web

from hedgerow_operator.adapters.providers.passthrough import PassThrough
from hedgerow_operator.adapters.providers.setup import Setup
from tests.gateway.data_path.gateways import LOOPBACK, free_socket


class Upstream:
    """How: "answers", "hangs", "dies" (after half of its body), "lies" (200 with an error in it), "refuses" (429),
    "streams", "counts" (the bytes of its body), "cuts" (a stream, in the middle of an event). left: requests whose
    client went away.
    """

    def __init__(self, how: str) -> None:
        self.how, self.asked, self.left = how, 0, 0

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked += 1
        request._client_max_size = 64 * 1024 * 1024
        await request.read()
        try:
            return await getattr(self, f"_{self.how}")(request)
        except asyncio.CancelledError:
            self.left += 1
            raise

    async def _answers(self, request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"choices": [{"message": {"role": "assistant", "content": "hi"}}]})

    async def _counts(self, request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"bytes": len(await request.read())})

    async def _hangs(self, request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(3600)
        raise AssertionError("it was waited for")

    async def _dies(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        assert request.transport is not None
        request.transport.abort()
        return response

    async def _lies(self, request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"error": {"message": "overloaded"}}, dumps=lambda found: '{"error":' + "1}")

    async def _refuses(self, request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"detail": "too many"}, status=429, headers={"Retry-After": "20"})

    async def _streams(self, request: web.BaseRequest, cut: bool = False) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for word in ("a", "b", "c"):
            await response.write(b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % word.encode())
            await asyncio.sleep(0.01)
        if cut:
            await response.write(b'data: {"choices":[{"in')
            assert request.transport is not None
            request.transport.abort()
            return response
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    async def _cuts(self, request: web.BaseRequest) -> web.StreamResponse:
        return await self._streams(request, cut=True)


@contextlib.asynccontextmanager
async def upstream(name: str, how: str) -> AsyncIterator[tuple[Upstream, PassThrough]]:
    """The server, and the provider that asks it."""
    server, listener = Upstream(how), free_socket()
    runner = web.ServerRunner(web.Server(server, handler_cancellation=True), shutdown_timeout=0.1)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    provider = PassThrough(Setup(name=name, allowed_networks=LOOPBACK), url)
    try:
        yield server, provider
    finally:
        await provider.close()
        await runner.cleanup()
