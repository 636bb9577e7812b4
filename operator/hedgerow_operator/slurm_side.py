"""What the operator process has for SlurmClusters: their drivers, and the passes over them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from hedgerow_operator.adapters.kube.api import Api
from hedgerow_operator.adapters.kube.slurm_clusters import KubeSecrets, KubeSlurmClusters
from hedgerow_operator.adapters.slurm.clusters import ClusterDrivers
from hedgerow_operator.adapters.slurm.clusters_runtime import ClustersRuntime
from hedgerow_operator.adapters.slurm.report_tokens import ReportTokens
from hedgerow_operator.reconcile.ports import JobKey, Leadership, Unreachable
from hedgerow_operator.reconcile.queue import Handler, WorkQueue
from hedgerow_operator.reconcile.slurm_clusters import ClusterReconciler
from hedgerow_operator.reconcile.slurm_jobs import FinalizedJobs, SlurmFarewell

RELIST_SECONDS = 300.0
RETRY_SECONDS = 2.0

log = structlog.get_logger("hedgerow")


class SlurmSide:
    """namespaces: those that are watched; empty: all. watching: counts passes, as for jobs. look_at: a job of this
    name may look different.
    """

    def __init__(
        self,
        api: Api,
        leadership: Leadership,
        namespaces: tuple[str, ...],
        watching: Callable[[Handler], Handler],
        jobs: FinalizedJobs,
        look_at: Callable[[JobKey], None],
    ) -> None:
        self.clusters = KubeSlurmClusters(api)
        self.drivers = ClusterDrivers(KubeSecrets(api).read, time.time)
        self._namespaces = namespaces
        self.tokens = ReportTokens()
        self.jobs_runtime = ClustersRuntime(self.clusters, self.drivers, jobs, self.tokens, time.time, look_at)
        self.farewell = SlurmFarewell(jobs, self.jobs_runtime)
        reconciler = ClusterReconciler(self.clusters, self.drivers, leadership, time.time)
        self.queue = WorkQueue(watching(reconciler.reconcile), on_error=_report_fault)

    async def run(self) -> None:
        """Look at every cluster, now and from time to time, and at those that the queue is given, until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.queue.run())
                group.create_task(self._list())
        finally:
            await self.jobs_runtime.close()
            await self.drivers.close()

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


def _report_fault(key: JobKey, error: Exception) -> None:
    log.error("a pass over a SlurmCluster failed", namespace=key.namespace, cluster=key.name, exc_info=error)
