"""A gateway on a free port of this machine, over the providers of a test."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import aiohttp
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Provider
from hedgerow_operator.core.hedging.fixed import Fixed
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.gateway import Gateway
from hedgerow_operator.gateway.peers import Replica
from hedgerow_operator.gateway.ports import Parts, Validator
from hedgerow_operator.gateway.server import Listening
from hedgerow_operator.gateway.settings import EndpointSettings, ProviderUse, Speaks
from hedgerow_operator.gateway.unbounded import unbounded

LOOPBACK = ("127.0.0.0/8", "::1/128")


def settings(*names: str, speaks: Speaks = Speaks.HTTP, **more: object) -> EndpointSettings:
    """Of the endpoint team/model, hedged after 50 ms."""
    usual = EndpointSettings(
        namespace="team",
        name="model",
        speaks=speaks,
        providers=tuple(ProviderUse(name=name) for name in names),
        policy=Fixed(after_seconds=0.05),
        max_extra_load=1.0,
        deadline_seconds=10.0,
    )
    return replace(usual, **more)


def endpoint(*providers: Provider, validators: Sequence[Validator] = (), **more: object) -> Endpoint:
    """Without a server."""
    names = [provider.name for provider in providers]
    return Endpoint(settings(*names, **more), unbounded(providers, tuple(validators)))  # type: ignore[arg-type]


class Served:
    """url: of the endpoint. root: of the gateway."""

    def __init__(self, gateway: Gateway, listening: Listening, served: Endpoint, port: int) -> None:
        self.gateway, self.listening, self.endpoint, self.port = gateway, listening, served, port
        self.root = f"http://127.0.0.1:{port}"
        self.url = f"{self.root}/team/model"


@contextlib.asynccontextmanager
async def serving(
    *providers: Provider,
    validators: Sequence[Validator] = (),
    parts: Parts | None = None,
    own: Replica | None = None,
    listener: socket.socket | None = None,
    **more: object,
) -> AsyncIterator[Served]:
    """The endpoint team/model over these providers."""
    listener = listener or free_socket()
    gateway = Gateway(own, allowed_networks=LOOPBACK)
    names = [provider.name for provider in providers]
    served = gateway.serve(settings(*names, **more), parts or unbounded(providers, tuple(validators)))  # type: ignore[arg-type]
    listening = Listening(gateway)
    await listening.start([listener])
    try:
        yield Served(gateway, listening, served, listener.getsockname()[1])
    finally:
        await listening.stop(0.0)
        for provider in providers:
            await provider.close()


@contextlib.asynccontextmanager
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    """Of HTTP."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield session


def free_socket() -> socket.socket:
    """Bound to a free port, and listening."""
    return socket.create_server(("127.0.0.1", 0), backlog=1024)


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for it. Raises AssertionError."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to hold in time"
        await asyncio.sleep(0.005)


class Got:
    """A whole answer."""

    def __init__(self, status: int, headers: Mapping[str, str], text: str) -> None:
        self.status, self.headers, self.text = status, headers, text

    def json(self) -> Any:
        return json.loads(self.text)


async def post(url: str, body: object = None, *, method: str = "POST", **more: Any) -> Got:
    """One request on a connection of its own."""
    async with client() as http, http.request(method, url, json=body, **more) as answer:
        return Got(answer.status, answer.headers, await answer.text())


async def get(url: str, **more: Any) -> Got:
    """See post."""
    return await post(url, None, method="GET", **more)
