"""Real HTTP servers on this machine, each an exporter that serves a text or misbehaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

from hedgerow.wire_agent import AgentReport
from hedgerow_operator.reconcile.exporters import Exporter
from hedgerow_operator.reconcile.ports import Unreachable
from tests.unit.core.nodes.exporter_text import text

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Served:
    """What one exporter answers next, and how often it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        return await self.answer(request)


def well(**options: int) -> Answer:
    """It is measured: its values change."""
    seconds = iter(range(0, 10**6, 4))

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=text(at=next(seconds), **options))

    return answer


def says(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Always the same."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, status=status, headers=headers)

    return answer


async def hangs(_: web.Request) -> web.Response:
    """For ever."""
    await asyncio.Event().wait()
    return web.Response()


async def trickles(request: web.Request) -> web.StreamResponse:
    """A byte at a time, for ever."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"#")
        await asyncio.sleep(0.01)


async def floods(request: web.Request) -> web.StreamResponse:
    """As fast as it can, for ever."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"DCGM_FI_DEV_GPU_TEMP" * 50_000)


async def breaks_off(request: web.Request) -> web.StreamResponse:
    """In the middle of what it had promised."""
    response = web.StreamResponse(headers={"Content-Length": "100000"})
    await response.prepare(request)
    await response.write(text(1).encode())
    assert request.transport is not None
    request.transport.abort()
    return response


class World:
    """The exporters that run, as the API server would list them, and the reports that came of them."""

    def __init__(self) -> None:
        self.exporters: dict[str, Exporter] = {}
        self.reports: dict[str, list[AgentReport]] = {}
        self.unreachable = False

    async def running(self) -> Mapping[str, Exporter]:
        if self.unreachable:
            raise Unreachable("the API server is away")
        return dict(self.exporters)

    def receive(self, report: AgentReport) -> None:
        self.reports.setdefault(report.node, []).append(report)

    def count(self, node: str) -> int:
        """How many reports came of this node."""
        return len(self.reports.get(node, []))

    @asynccontextmanager
    async def serving(self, **answers: Answer) -> AsyncIterator[dict[str, Served]]:
        """An exporter on each of these nodes."""
        found, runners = {}, []
        for node, answer in answers.items():
            served = found[node] = Served(answer)
            application = web.Application()
            application.router.add_get("/metrics", served.handle)
            runner = web.AppRunner(application, shutdown_timeout=0.1)
            await runner.setup()
            runners.append(runner)
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            self.exporters[node] = Exporter(node=node, url=f"http://127.0.0.1:{port}/metrics", process=f"{node}/0")
        try:
            yield found
        finally:
            for runner in runners:
                await runner.cleanup()
