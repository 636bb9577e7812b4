"""The SlurmClusters whose node agents are heard: each one's token, and the nodes that it lists."""

from collections.abc import Callable
from typing import Protocol

import structlog

from hedgerow_operator.adapters.slurm.agent_tokens import AgentSite, digest
from hedgerow_operator.adapters.slurm.clusters import ReadSecret
from hedgerow_operator.adapters.slurm.clusters_runtime import Drivers
from hedgerow_operator.api.slurm_cluster import SecretRef, SlurmCluster
from hedgerow_operator.reconcile.ports import JobKey, Refused, Unreachable

log = structlog.get_logger("hedgerow")


class AllClusters(Protocol):
    """Where SlurmClusters live. Every method may raise Unreachable."""

    async def existing(self, namespaces: tuple[str, ...]) -> tuple[JobKey, ...]:
        """Every one of these namespaces; none named: of all."""

    async def get(self, key: JobKey) -> SlurmCluster | None:
        """The one of this name as stored now."""


class ClusterAgentSites:
    """An agent_tokens.ReadSites. What cannot be asked for the moment stays as it was last known.

    warn: called once with the name of a cluster and what keeps its agents from being heard.
    """

    def __init__(
        self,
        clusters: AllClusters,
        drivers: Drivers,
        read_secret: ReadSecret,
        namespaces: tuple[str, ...],
        warn: Callable[[str, str], None] | None = None,
    ) -> None:
        self._clusters = clusters
        self._drivers = drivers
        self._read_secret = read_secret
        self._namespaces = namespaces
        self._warn = warn or _logged
        self._known: dict[str, AgentSite] = {}
        self._said: dict[str, str] = {}

    async def __call__(self) -> tuple[AgentSite, ...]:
        found: dict[str, AgentSite] = {}
        for key in await self._clusters.existing(self._namespaces):
            cluster = await self._clusters.get(key)
            if cluster is None or cluster.spec.agent_token_secret_ref is None:
                continue
            name = f"{key.namespace}/{key.name}"
            site = await self._site(name, cluster, cluster.spec.agent_token_secret_ref)
            if site is not None:
                found[name] = site
        self._known = found
        return tuple(found.values())

    async def _site(self, name: str, cluster: SlurmCluster, reference: SecretRef) -> AgentSite | None:
        before = self._known.get(name)
        try:
            token = await self._read_secret(cluster.metadata.namespace, reference.name, reference.key)
        except Refused as error:
            self._say(name, str(error))
            return None
        except Unreachable as error:
            self._say(name, str(error))
            return before
        try:
            driver = await self._drivers.driver(cluster, cluster.spec.user)
            nodes = frozenset(node.name for node in await driver.nodes())
        except (Refused, Unreachable) as error:
            self._say(name, str(error))
            return AgentSite(name=name, digest=digest(token), nodes=before.nodes if before else None)
        self._said.pop(name, None)
        return AgentSite(name=name, digest=digest(token), nodes=nodes)

    def _say(self, name: str, sentence: str) -> None:
        if self._said.get(name) != sentence:
            self._said[name] = sentence
            self._warn(name, sentence)


def _logged(name: str, sentence: str) -> None:
    log.warning("node agents of a SlurmCluster may not be heard", cluster=name, error=sentence)
