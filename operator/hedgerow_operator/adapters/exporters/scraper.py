"""Asks every dcgm-exporter from time to time, and takes what it says for the report of an agent of its node.

Each exporter has a task of its own. Those that did not answer the last time share a few places of their own, so that
however many hang, the others are asked in time. One that says nothing is a silent agent: its node is not measured.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Mapping
from typing import Protocol

import structlog

from hedgerow.wire_agent import AgentReport
from hedgerow_operator.adapters.exporters.fetch import Fetch, NoAnswer
from hedgerow_operator.core.nodes.dcgm.node import ExporterNode
from hedgerow_operator.core.nodes.dcgm.text import Unreadable, read
from hedgerow_operator.reconcile.exporters import Exporter, ExporterRules, Exporters
from hedgerow_operator.reconcile.ports import Unreachable

AT_ONCE = 64
DOUBTFUL_AT_ONCE = 32
DISCOVER_SECONDS = 15.0
# One that is back must be heard before its node counts as silent for long.
LONGEST_WAIT_SECONDS = 30.0

log = structlog.get_logger("hedgerow")


class Hub(Protocol):
    """Where reports go (reconcile.agents.AgentHub)."""

    def receive(self, report: AgentReport) -> object:
        """Take the report of an agent."""


class Scraper:
    """clock: monotonic seconds; wall: seconds since the epoch.

    xids: what the GPUNode of this name says of its GPUs: index -> code and age of the last Xid.
    """

    def __init__(
        self,
        exporters: Exporters,
        hub: Hub,
        rules: ExporterRules,
        xids: Callable[[str], Mapping[int, tuple[int, float]]],
        clock: Callable[[], float],
        wall: Callable[[], float],
        fetch: Fetch | None = None,
    ) -> None:
        self._exporters = exporters
        self._hub = hub
        self._rules = rules
        self._xids = xids
        self._clock = clock
        self._wall = wall
        self._fetch = fetch or Fetch(AT_ONCE + DOUBTFUL_AT_ONCE)
        self._places = asyncio.Semaphore(AT_ONCE)
        self._doubtful_places = asyncio.Semaphore(DOUBTFUL_AT_ONCE)
        self._running: Mapping[str, Exporter] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def run(self, discover_seconds: float = DISCOVER_SECONDS) -> None:
        """Until it is cancelled."""
        said = ""
        async with self._fetch:
            try:
                while True:
                    words = await self._discover()
                    if words and words != said:
                        log.warning("dcgm-exporters are not to be found", error=words)
                    said = words
                    await asyncio.sleep(discover_seconds)
            finally:
                for task in self._tasks.values():
                    task.cancel()
                await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _discover(self) -> str:
        """What is wrong with the search; empty: nothing. Those that are known are asked on when it fails."""
        try:
            self._running = await self._exporters.running()
        except Unreachable as error:
            return str(error)
        for node in [node for node, task in self._tasks.items() if task.done()]:
            # A fault of ours with one node must not leave it unseen for good.
            log.error("a dcgm-exporter was not followed", node=node, exc_info=self._tasks.pop(node).exception())
        for node in self._tasks.keys() - self._running.keys():
            self._tasks.pop(node).cancel()
        for node in self._running.keys() - self._tasks.keys():
            self._tasks[node] = asyncio.create_task(self._follow(node))
        rules = self._rules
        none = f"no pod in namespace {rules.namespace} runs with the labels {rules.selector}"
        return "" if self._running else none

    async def _follow(self, node: str) -> None:
        """Ask the exporter of this node for ever; the wait grows while it gives no answer."""
        seen = ExporterNode(node)
        known = self._xids(node)
        seen.recall({index: (code, self._clock() - age) for index, (code, age) in known.items()})
        every, said, failures = self._rules.scrape_seconds, "", 0
        # Not all of them at the same moment.
        await asyncio.sleep(every * (zlib.crc32(node.encode()) % 1000) / 1000)
        # One that has never answered is doubtful too.
        doubtful = True
        while True:
            began = self._clock()
            words = await self._ask(node, seen, self._doubtful_places if doubtful else self._places)
            doubtful = bool(words)
            failures = failures + 1 if words else 0
            if words != said:
                said = words
                _tell(node, words)
            wait = max(every, min(every * 2 ** min(failures, 8), LONGEST_WAIT_SECONDS))
            await asyncio.sleep(max(0.0, began + wait - self._clock()))

    async def _ask(self, node: str, seen: ExporterNode, places: asyncio.Semaphore) -> str:
        """Why there is no report; empty: there is one, or the exporter has just gone."""
        async with places:
            exporter = self._running.get(node)
            if exporter is None:
                return ""
            try:
                text = await self._fetch.text(exporter.url)
                # Megabytes of nonsense must not hold up everything else here.
                found = await asyncio.to_thread(read, text)
            except NoAnswer as error:
                return str(error)
            except Unreadable as error:
                return f"is not one: {error}"
        self._hub.receive(seen.take(found, exporter.process, self._clock(), self._wall()))
        return ""


def _tell(node: str, words: str) -> None:
    if words:
        log.warning("a dcgm-exporter gives no report", node=node, exporter=words)
    else:
        log.info("a dcgm-exporter is read", node=node)
