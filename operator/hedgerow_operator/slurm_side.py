"""What the operator process has for SlurmClusters: their drivers, and the passes over them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping

import structlog

from hedgerow_operator.adapters.kube.api import Api
from hedgerow_operator.adapters.kube.slurm_clusters import KubeSecrets, KubeSlurmClusters
from hedgerow_operator.adapters.slurm.agent_sites import ClusterAgentSites
from hedgerow_operator.adapters.slurm.clusters import ClusterDrivers
from hedgerow_operator.adapters.slurm.clusters_runtime import ClustersRuntime
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.report_tokens import ReportTokens
from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.reconcile.ports import JobKey, Leadership, Refused, Unreachable
from hedgerow_operator.reconcile.queue import Handler, WorkQueue
from hedgerow_operator.reconcile.slurm_clusters import ClusterReconciler
from hedgerow_operator.reconcile.slurm_drains import Draining
from hedgerow_operator.reconcile.slurm_jobs import FinalizedJobs, SlurmFarewell

RELIST_SECONDS = 300.0
RETRY_SECONDS = 2.0
DRAIN_SECONDS = 15.0

log = structlog.get_logger("hedgerow")


class SlurmSide:
    """namespaces: those that are watched; empty: all. watching: counts passes, as for jobs. look_at: a job of this
    name may look different. quarantines: of every node with GPUs; None: not known yet. site_of: the cluster that a
    GPUNode says it is of.
    """

    def __init__(
        self,
        api: Api,
        leadership: Leadership,
        namespaces: tuple[str, ...],
        watching: Callable[[Handler], Handler],
        jobs: FinalizedJobs,
        look_at: Callable[[JobKey], None],
        quarantines: Callable[[], Mapping[str, Quarantine] | None],
        site_of: Callable[[str], str],
    ) -> None:
        self.clusters, secrets = KubeSlurmClusters(api), KubeSecrets(api)
        self.drivers = ClusterDrivers(secrets.read, time.time)
        self._namespaces = namespaces
        self.tokens = ReportTokens()
        self.jobs_runtime = ClustersRuntime(self.clusters, self.drivers, jobs, self.tokens, time.time, look_at)
        self.farewell = SlurmFarewell(jobs, self.jobs_runtime)
        self.agent_sites = ClusterAgentSites(self.clusters, self.drivers, secrets.read, namespaces)
        self._draining = Draining(self, quarantines, leadership, _report_drain, site_of=site_of)
        reconciler = ClusterReconciler(self.clusters, self.drivers, leadership, time.time)
        self.queue = WorkQueue(watching(reconciler.reconcile), on_error=_report_fault)

    async def run(self) -> None:
        """Look at every cluster, now and from time to time, and at those that the queue is given, until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.queue.run())
                group.create_task(self._list())
                group.create_task(self._drain())
        finally:
            await self.jobs_runtime.close()
            await self.drivers.close()

    async def drainable(self) -> Iterable[tuple[JobKey, Driver]]:
        """Implements reconcile.slurm_drains.Drainables."""
        keys = await self.clusters.existing(self._namespaces)
        found = [(key, await self.clusters.get(key)) for key in keys]
        allowing = [(key, cluster) for key, cluster in found if cluster is not None and cluster.spec.allow_drain]
        return [(key, await self.drivers.driver(cluster, cluster.spec.user)) for key, cluster in allowing]

    async def _drain(self) -> None:
        """Drain quarantined nodes of the clusters that allow it."""
        while True:
            try:
                await self._draining.look()
            except (Unreachable, Refused) as error:
                log.warning("nodes of Slurm are not drained", error=str(error))
            await asyncio.sleep(DRAIN_SECONDS)

    async def _list(self) -> None:
        while True:
            wait = RELIST_SECONDS
            try:
                for key in await self.clusters.existing(self._namespaces):
                    self.queue.add(key)
            except Unreachable as error:
                log.warning("SlurmClusters cannot be listed", error=str(error))
                wait = RETRY_SECONDS
            await asyncio.sleep(wait)


def _report_drain(key: JobKey, sentence: str) -> None:
    log.warning("a node is not drained", namespace=key.namespace, cluster=key.name, error=sentence)


def _report_fault(key: JobKey, error: Exception) -> None:
    log.error("a pass over a SlurmCluster failed", namespace=key.namespace, cluster=key.name, exc_info=error)
