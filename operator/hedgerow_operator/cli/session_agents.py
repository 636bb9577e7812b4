"""What node agents on this machine's Slurm say to a local run, and which nodes its jobs avoid for it."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable

from hedgerow_operator.adapters.local.gpu_nodes import MemoryGPUNodes
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.tokens import ensure_agents_token
from hedgerow_operator.adapters.slurm.agent_tokens import AgentSite, AgentTokens, digest
from hedgerow_operator.core.nodes.seen import NodeRules
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.agents import AgentHub
from hedgerow_operator.reconcile.nodes import NodeReconciler
from hedgerow_operator.reconcile.ports import JobKey, Leadership, Unreachable
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.server.intake import Agents

_SITE = "this machine's Slurm"


class SessionAgents:
    """names: of the nodes that this machine's Slurm has. told: called with each sentence that people should know."""

    def __init__(
        self,
        paths: StatePaths,
        names: Callable[[], Awaitable[Iterable[str]]],
        leadership: Leadership,
        told: Callable[[str], None],
    ) -> None:
        self._paths = paths
        self._names = names
        self._told = told
        self._begun = time.monotonic()
        hub = AgentHub(clock=time.monotonic)
        self.nodes = NodeReconciler(
            MemoryGPUNodes(self._tell), hub, leadership, time.time, self._listening, NodeRules(), write_seconds=0.0
        )
        self._queue = WorkQueue(self.nodes.reconcile, on_error=self._failed)
        hub.on_news = lambda node: self._queue.add(JobKey("", node))
        self._tokens = AgentTokens(self._site)
        self.heard = Agents(hub, self._tokens)

    async def run(self) -> None:
        """Hear agents until cancelled. The file with their token is there from the start on."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            ensure_agents_token(self._paths)
        try:
            await self._queue.run()
        finally:
            await self._tokens.close()

    async def _site(self) -> tuple[AgentSite, ...]:
        try:
            token = await asyncio.to_thread(ensure_agents_token, self._paths)
        except (OSError, UnicodeDecodeError) as error:
            raise Unreachable(f"{self._paths.agents_token} cannot be read: {error}") from error
        return (AgentSite(name=_SITE, digest=digest(token), nodes=frozenset(await self._names())),)

    def _listening(self) -> float:
        return time.monotonic() - self._begun

    def _tell(self, node: str, event: Event) -> None:
        self._told(f"node {node}: {event.message}")

    def _failed(self, key: JobKey, error: Exception) -> None:
        self._told(f"node {key.name}: internal error, will try again: {type(error).__name__}: {error}")
