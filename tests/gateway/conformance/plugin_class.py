"""A provider plugin as its author would write it, over the jobs of a world."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.gateway.conformance.world import World

_STATES = {"queued": "Queued", "running": "Running", "done": "Valid", "failed": "Failed", "cancelled": "Cancelled"}


class PluginFault(Exception):
    """What the author's own client raises."""


def plugin_over(world: World) -> Any:
    """The class. Its methods misbehave as calls over HTTP would: a fault is an exception here."""

    class Mine:
        def __init__(self, options: dict[str, str], secrets: dict[str, str]) -> None:
            self.options, self.secrets = options, secrets

        async def submit(self, request: Any) -> str:
            self._asked("submit")
            return world.begin(request).id

        async def status(self, job: str) -> str:
            self._asked("status")
            if job not in world.jobs or (world.expired and world.jobs[job].ended):
                raise PluginFault("no such job")
            return _STATES[world.jobs[job].state]

        async def result(self, job: str) -> Any:
            return world.jobs[job].output

        async def cancel(self, job: str) -> None:
            self._asked("cancel")
            world.jobs[job].cancel()

        def _asked(self, kind: str) -> None:
            world.asked.append((kind, ""))
            fault: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = world.fault(kind)
            if fault is not None:
                raise PluginFault(f"it went wrong with {self.secrets['apiKey']}")

    return Mine
