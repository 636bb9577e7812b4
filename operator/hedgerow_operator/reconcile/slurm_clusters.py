"""One pass over one SlurmCluster: it is asked, and what it answers is written into its status."""

from collections.abc import Callable
from typing import Protocol

from hedgerow_operator.api.conditions import UNKNOWN, find_condition
from hedgerow_operator.api.slurm_cluster import READY, SlurmCluster, SlurmClusterStatus
from hedgerow_operator.core.slurm.clusters import ClusterSeen, cluster_status
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Leadership, Unreachable

# Nodes come and go; jobs themselves are listed far more often.
LOOK_SECONDS = 60.0
RETRY_SECONDS = 10.0
CONFLICT_SECONDS = 0.05


class SlurmClusters(Protocol):
    """Where SlurmCluster objects live. Every method may raise Unreachable."""

    async def get(self, key: JobKey) -> SlurmCluster | None:
        """The one of this name as stored now; None: there is none, or it is being deleted."""

    async def write_status(self, cluster: SlurmCluster, status: SlurmClusterStatus) -> SlurmCluster:
        """Store the status guarded by the resourceVersion; returns the cluster as stored. Raises Conflict."""


class Asking(Protocol):
    """How clusters are asked."""

    async def ask(self, cluster: SlurmCluster) -> ClusterSeen:
        """What it answers. Never raises for what is wrong with it."""

    async def forget(self, key: JobKey) -> None:
        """It is gone: let go of sessions and processes."""


class ClusterReconciler:
    """Level-triggered, as the one of jobs. on_change: called with a cluster whose status has become another."""

    def __init__(
        self,
        clusters: SlurmClusters,
        asking: Asking,
        leadership: Leadership,
        clock: Callable[[], float],
        on_change: Callable[[JobKey], None] = lambda key: None,
    ) -> None:
        self._clusters = clusters
        self._asking = asking
        self._leadership = leadership
        self._clock = clock
        self._on_change = on_change

    async def reconcile(self, key: JobKey) -> float | None:
        """One pass; returns in how many seconds to look again, None where there is nothing to look at."""
        try:
            return await self._pass(key)
        except Conflict:
            return CONFLICT_SECONDS
        except Unreachable:
            return RETRY_SECONDS

    async def _pass(self, key: JobKey) -> float | None:
        if not self._leadership.holds():
            return RETRY_SECONDS
        cluster = await self._clusters.get(key)
        if cluster is None:
            await self._asking.forget(key)
            return None
        status = cluster_status(cluster, await self._asking.ask(cluster), self._clock())
        if status != cluster.status:
            await self._clusters.write_status(cluster, status)
            self._on_change(key)
        ready = find_condition(status.conditions, READY)
        return RETRY_SECONDS if ready is not None and ready.status == UNKNOWN else LOOK_SECONDS
