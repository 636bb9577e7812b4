"""The server process of the benchmark: the real one with everything behind it, or a bare aiohttp handler.

``python -m ingest_parts.server real|bare NODES INTERVAL`` prints its port; each line on standard input is a question
that is answered with a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from typing import Any, cast

import msgspec
from aiohttp import web

from hedgerow.wire import COMMAND_DUMP, REPORTS_PATH, Command
from hedgerow.wire_agent import AGENT_REPORTS_PATH
from hedgerow_operator.adapters.kube.token_review import AgentReviews, Reviews, TokenReviews
from hedgerow_operator.reconcile.agents import AgentHub
from hedgerow_operator.reconcile.engine import Reconciler, connect
from hedgerow_operator.reconcile.pressure import Pressure
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.server.app import make_app, make_runner
from hedgerow_operator.server.connections import INTAKE
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.intake import Agents
from hedgerow_operator.server.listening import BACKLOG, listen, prepare
from hedgerow_operator.server.metrics import Metrics
from ingest_parts.bodies import FIRST, WORKERS
from ingest_parts.inside import Inside
from ingest_parts.world import AGENTS_ACCOUNT, Api, RunningPlacements, StoredJobs, jobs_of


class Leads:
    """ports.Leadership of the only operator."""

    def holds(self) -> bool:
        return True


class Real:
    """The report server, both hubs and the reconciler, wired as in the operator's process."""

    def __init__(self, nodes: int, interval: float) -> None:
        self.nodes, self.commands = nodes, 0
        self._commanded: list[tuple[float, str]] = []
        self.jobs = StoredJobs(jobs_of(nodes))
        self.metrics, self.pressure = Metrics(), Pressure()
        self.hub = ReportHub(time.monotonic, longest_interval=interval, pressure=self.pressure)
        self.agents = AgentHub(time.monotonic, self.pressure)
        placements = RunningPlacements()
        self.engine = Reconciler(self.jobs, lambda job: placements, self.hub, Leads(), time.time, self.metrics)
        self.queue = WorkQueue(self.engine.reconcile, on_error=lambda key, error: print(error, file=sys.stderr))
        connect(self.hub, self.engine, self.queue)
        reviews = Reviews(cast("Any", Api()), time.monotonic)
        self.app = make_app(self.hub, TokenReviews(reviews), Leads(), self.metrics, Health(time.monotonic),
                            Agents(self.agents, AgentReviews(reviews, AGENTS_ACCOUNT)))

    async def start(self) -> web.AppRunner:
        """Every job known, the queue at work."""
        for key in self.jobs.jobs:
            await self.engine.reconcile(key)
            self.queue.add(key, 1.0)
        self._work = (asyncio.ensure_future(self.queue.run()), asyncio.ensure_future(self.pressure.run()))
        return make_runner(self.app)

    def command(self) -> None:
        """Give a command to the next launcher, and take back those of a second ago; when it was given stands in it."""
        now, names = time.monotonic(), sorted(self.hub._jobs)
        while self._commanded and self._commanded[0][0] < now - 1.0:
            self._order(self._commanded.pop(0)[1], {})
        uid = names[self.commands % len(names)]
        workers = min(WORKERS, self.nodes - int(uid.rpartition("-")[2]) * WORKERS)
        command = Command(kind=COMMAND_DUMP, attempt=1, reason=f"given {now}")
        self._order(uid, {self.commands * 7 % workers: (command,)})
        self._commanded.append((now, uid))
        self.commands += 1

    def _order(self, uid: str, commands: dict[int, tuple[Command, ...]]) -> None:
        self.hub.publish(uid, msgspec.structs.replace(self.hub._jobs[uid].orders, commands=commands))

    async def give_commands(self) -> None:
        """Ten a second, as long as it runs."""
        while True:
            await asyncio.sleep(0.1)
            self.command()

    def handled(self) -> int:
        return int(self.metrics._received._value.get())

    def tell(self) -> dict[str, Any]:
        """What is known of whom."""
        heard = [entry.report.seq - FIRST for job in self.jobs.jobs.values()
                 for entry in self.hub.heard(job.metadata.uid)]
        agents = [outline.seq - FIRST for outline, _age in self.agents.outlines()]
        stalled = [job.status.incident.kind for job in self.jobs.jobs.values() if job.status.incident is not None]
        return {"launchers": len(heard), "commands": self.commands, "least": min(heard, default=0),
                "agents": len(agents),
                "leastOfAgents": min(agents, default=0),
                "sum": sum(heard) + sum(agents), "jobs": len(self.jobs.jobs), "incidents": len(stalled),
                "factor": round(self.pressure.factor, 2)}


class Bare:
    """The limit: a handler that reads the body and says one word."""

    def __init__(self) -> None:
        self._handled = 0
        self.app = web.Application(client_max_size=1024 * 1024)
        for path in (REPORTS_PATH, AGENT_REPORTS_PATH):
            self.app.router.add_post(path, self._handle)

    async def start(self) -> web.AppRunner:
        return web.AppRunner(self.app, access_log=None, keepalive_timeout=75.0)

    def tell(self) -> dict[str, Any]:
        return {}

    def handled(self) -> int:
        return self._handled

    async def _handle(self, request: web.Request) -> web.Response:
        self._handled += 1
        await request.read()
        return web.Response(body=b'{"interval_seconds":5.0}', content_type="application/json")


def _costs() -> dict[str, float]:
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    try:
        with open("/proc/self/schedstat") as file:
            waited = int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        waited = 0.0
    return {"cpu": time.process_time(), "waited": waited, "wall": time.monotonic(),
            "rss": pages * resource.getpagesize()}


async def main() -> None:
    kind, nodes, interval = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    prepare()
    served: Real | Bare = Real(nodes, interval) if kind == "real" else Bare()
    inside = Inside()
    if isinstance(served, Real):
        inside.watch(served.app[INTAKE])
    runner = await served.start()
    await runner.setup()
    await web.SockSite(runner, listen("127.0.0.1", 0), backlog=BACKLOG).start()
    print(json.dumps({"port": runner.addresses[0][1], **_costs()}), flush=True)
    commands: asyncio.Future[None] | None = None
    asked, loop = asyncio.Queue[str](), asyncio.get_running_loop()
    loop.add_reader(sys.stdin, lambda: asked.put_nowait(sys.stdin.readline()))
    while question := (await asked.get()).strip():
        told = _costs()
        if question == "commands" and isinstance(served, Real):
            commands = asyncio.ensure_future(served.give_commands())
        if question == "no commands" and commands is not None:
            commands.cancel()
        if question == "all":
            told.update(served.tell())
        told.update(inside.tell(), handled=served.handled())
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
