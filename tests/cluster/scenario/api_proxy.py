"""A proxy before the API server that counts what an operator changes, and acts just before the n-th change."""

import asyncio
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

READS = ("GET", "HEAD", "OPTIONS")
# Renewing the lease and checking tokens are no steps of anything.
UNCOUNTED = ("/leases", "/tokenreviews")
HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "host", "keep-alive"}


class ApiProxy:
    """Plain HTTP on a port of 127.0.0.1, forwarded to the API server at `server` with its certificate checked.

    `writes`: the changes that were let through, as "METHOD path". The one after `allowed` of them is not let through:
    `on_limit` is called instead, from the proxy's own thread, and the connection breaks.
    """

    def __init__(self, server: str, ca: Path) -> None:
        self._server, self._ca = server, ca
        self.writes: list[str] = []
        self.allowed = float("inf")
        self.on_limit: Callable[[], None] = lambda: None
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="api-proxy", daemon=True)

    def __enter__(self) -> "ApiProxy":
        self._thread.start()
        assert self._started.wait(10), "the proxy did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def url(self) -> str:
        """What to give to a client as the API server."""
        return f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner, session = self._loop.run_until_complete(self._start())
        self._started.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._stop(runner, session))
        self._loop.close()

    async def _start(self) -> tuple[web.AppRunner, aiohttp.ClientSession]:
        tls = ssl.create_default_context(cafile=str(self._ca))
        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls, limit=0), auto_decompress=False)
        app = web.Application(client_max_size=16 * 1024**2)

        async def handle(request: web.Request) -> web.StreamResponse:
            return await self._forward(request, session)

        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app, shutdown_timeout=0, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = int(runner.addresses[0][1])
        return runner, session

    async def _stop(self, runner: web.AppRunner, session: aiohttp.ClientSession) -> None:
        await session.close()
        await runner.cleanup()

    async def _forward(self, request: web.Request, session: aiohttp.ClientSession) -> web.StreamResponse:
        if request.method not in READS and not any(word in request.path for word in UNCOUNTED):
            if len(self.writes) >= self.allowed:
                self.on_limit()
                return _broken(request)
            self.writes.append(f"{request.method} {request.path}")
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        body = await request.read() or None
        url = f"{self._server}{request.raw_path}"
        try:
            timeout = aiohttp.ClientTimeout(total=None)
            async with session.request(request.method, url, headers=headers, data=body, timeout=timeout) as upstream:
                return await _pass_on(request, upstream)
        except (aiohttp.ClientError, OSError):
            return _broken(request)


async def _pass_on(request: web.Request, upstream: aiohttp.ClientResponse) -> web.StreamResponse:
    headers = {name: value for name, value in upstream.headers.items() if name.lower() not in HOP_BY_HOP}
    response = web.StreamResponse(status=upstream.status, headers=headers)
    await response.prepare(request)
    async for chunk in upstream.content.iter_any():
        await response.write(chunk)
    await response.write_eof()
    return response


def _broken(request: web.Request) -> Any:
    """What a client sees of a server that dies."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=502)
