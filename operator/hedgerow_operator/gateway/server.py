"""The gateway on its sockets. Whoever does not send its head in time is closed; who leaves ends its attempts."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler

from hedgerow_operator.gateway.front import Front
from hedgerow_operator.gateway.gateway import Gateway
from hedgerow_operator.gateway.reply import SERVER

HEAD_SECONDS = 10.0
_IDLE_SECONDS = 75.0
_LINGER_SECONDS = 5.0
_LAST_SECONDS = 0.2
_OF_CLIENTS = (ConnectionError, HttpProcessingError, web.RequestPayloadError)

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class _Handler(RequestHandler):
    """Of one connection."""

    __slots__ = ("_idle_until",)
    head_seconds = HEAD_SECONDS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._idle_until = self._next_keepalive_close_time
        asyncio.get_running_loop().call_later(self.head_seconds, self._unless_heard)

    def _unless_heard(self) -> None:
        """A first request is to come sooner than the next ones, between which a connection may idle."""
        waits = self._waiter is not None and not self._waiter.done()
        if waits and self._next_keepalive_close_time == self._idle_until:
            self.force_close()


    def log_exception(self, *args: Any, exc_info: Any = None, **more: Any) -> None:
        """What a client does wrong, or its leaving, is nothing that the gateway's log has to tell."""
        if not isinstance(exc_info, _OF_CLIENTS):
            super().log_exception(*args, exc_info=exc_info, **more)

    def handle_error(self, *args: Any, **more: Any) -> web.StreamResponse:
        """Of a request that is no HTTP, without our libraries and their versions."""
        response = super().handle_error(*args, **more)
        response.headers.update(SERVER)
        return response


class _Server(web.Server):
    def __call__(self) -> RequestHandler:
        return _Handler(
            self,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=_IDLE_SECONDS,
            lingering_time=_LINGER_SECONDS,
            access_log=None,  # type: ignore[arg-type]  # aiohttp takes it for none
        )


class Listening:
    """The gateway on its sockets. handler: who answers there; usually the front for clients."""

    def __init__(self, gateway: Gateway, handler: Handler | None = None) -> None:
        self._gateway = gateway
        self._server = _Server(handler or Front(gateway), handler_cancellation=True)
        self._listeners: list[asyncio.Server] = []

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        """Take connections."""
        loop = asyncio.get_running_loop()
        for one in sockets:
            self._listeners.append(await loop.create_server(self._server, sock=one, backlog=1024))

    async def stop(self, grace_seconds: float) -> None:
        """Take no more requests; those that run get so long, and are cancelled then."""
        await self._gateway.drain(grace_seconds)
        await self.close()
        await self._gateway.close()

    async def close(self) -> None:
        """Close all connections, whatever they are at."""
        for listener in self._listeners:
            listener.close()
        self._server.pre_shutdown()
        await self._server.shutdown(timeout=_LAST_SECONDS)
