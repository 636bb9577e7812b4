"""One imitated provider on a port of loopback: what all have in common."""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.gateway.conformance.world import World

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
# The name of each route is the kind of the call; those that need no credentials.
_OPEN = frozenset({"ping"})


class Api(ABC):
    """A provider's routes. token: what it wants to see in Authorization."""

    token = "Bearer secret-key"

    def __init__(self, world: World) -> None:
        self.world = world
        self.url = ""
        self.runner: web.AppRunner | None = None

    @abstractmethod
    def routes(self) -> list[web.RouteDef]:
        """Each with a name: the kind of its calls."""

    def trusts(self, request: web.Request) -> bool:
        """Whether the credentials are accepted."""
        return request.headers.get("Authorization") == self.token

    @web.middleware
    async def _kept(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        kind = request.match_info.route.name or ""
        self.world.asked.append((kind, request.path_qs))
        self.world.requests.append(request)
        fault = self.world.fault(kind)
        if fault is not None:
            return await fault(request)
        if kind not in _OPEN and not self.trusts(request):
            return web.json_response({"error": "unauthorized"}, status=401)
        return await handler(request)

    async def stop(self) -> None:
        """From now on nobody listens."""
        assert self.runner is not None
        await self.runner.cleanup()

    def application(self) -> web.Application:
        """All of it."""
        application = web.Application(middlewares=[self._kept], client_max_size=64 << 20)
        application.add_routes(self.routes())
        return application


async def body_of(world: World, request: web.Request) -> Any:
    """The request's JSON, which is kept."""
    body = json.loads(await request.read() or b"{}")
    world.bodies.append((request.match_info.route.name or "", body))
    return body


@asynccontextmanager
async def serving(api: Api) -> AsyncIterator[str]:
    """Its address. A handler is cancelled when its client hangs up."""
    runner = web.AppRunner(api.application(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    api.url = f"http://{host}:{port}"
    api.runner = runner
    try:
        yield api.url
    finally:
        await runner.cleanup()
