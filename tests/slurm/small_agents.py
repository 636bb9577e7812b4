"""What an operator does for node agents on a SlurmCluster, with GPUNodes in memory in place of Kubernetes."""

import asyncio
import time
from collections.abc import Iterable

from hedgerow_operator.adapters.local.gpu_nodes import MemoryGPUNodes
from hedgerow_operator.adapters.slurm.agent_sites import ClusterAgentSites
from hedgerow_operator.adapters.slurm.agent_tokens import AgentTokens
from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.cli.session import SoleLeader
from hedgerow_operator.core.nodes.seen import NodeRules
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.agents import AgentHub
from hedgerow_operator.reconcile.nodes import NodeReconciler
from hedgerow_operator.reconcile.ports import JobKey
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.reconcile.slurm_drains import Drainable, Draining
from hedgerow_operator.server.intake import Agents
from tests.slurm.testbed.testbed import Testbed

CLUSTER = JobKey("ml", "hpc")
AGENTS_TOKEN = "what-agents-show"
_DRAIN_SECONDS = 1.0


class SmallAgents:
    """Agents that are heard, and nodes that are drained for what they say, by commands: slurmrestd 22.05 cannot."""

    def __init__(self, sites: ClusterAgentSites, testbed: Testbed) -> None:
        self.events: list[tuple[str, Event]] = []
        self._driver = CliDriver(testbed.environment)
        leader, hub = SoleLeader(), AgentHub(clock=time.monotonic)
        nodes = MemoryGPUNodes(lambda node, event: self.events.append((node, event)))
        self.nodes = NodeReconciler(nodes, hub, leader, time.time, time.monotonic, NodeRules())
        self.queue = WorkQueue(self.nodes.reconcile)
        hub.on_news = lambda node: self.queue.add(JobKey("", node))
        self.tokens = AgentTokens(sites)
        self.heard = Agents(hub, self.tokens)
        self._draining = Draining(
            self, self.nodes.quarantines, leader, lambda key, told: None, site_of=self.tokens.site_of
        )

    async def drainable(self) -> Iterable[tuple[JobKey, Drainable]]:
        """Implements slurm_drains.Drainables."""
        return [(CLUSTER, self._driver)]

    async def drain(self) -> None:
        """Until cancelled."""
        await self.nodes.load()
        while True:
            await self._draining.look()
            await asyncio.sleep(_DRAIN_SECONDS)
