"""Jobs that name a SlurmCluster: for each cluster, and each user of it, one view and one runtime."""

import asyncio
import contextlib
from collections.abc import Callable
from time import monotonic
from typing import Protocol

from hedgerow_operator.adapters.slurm.cluster_files import ClusterFiles
from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.report_tokens import ReportTokens
from hedgerow_operator.adapters.slurm.runtime import SlurmRuntime
from hedgerow_operator.api.slurm_cluster import SlurmCluster
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.seen import PlacementSeen
from hedgerow_operator.core.slurm.clusters import identity
from hedgerow_operator.reconcile.ports import JobKey, Refused, Unreachable
from hedgerow_operator.reconcile.slurm_jobs import FinalizedJobs

# A SlurmCluster that has changed counts so much later at most.
CLUSTER_SECONDS = 5.0


class Clusters(Protocol):
    """Where SlurmClusters live."""

    async def get(self, key: JobKey) -> SlurmCluster | None:
        """The one of this name as stored now. Raises Unreachable."""


class Drivers(Protocol):
    """How they are reached."""

    async def driver(self, cluster: SlurmCluster, user: str) -> Driver:
        """The one that acts as this user, another object once the cluster's spec has changed. Raises Refused."""


class ClustersRuntime:
    """See reconcile.ports.Runtime. on_change: a job of this name may look different. clock: wall time."""

    fences_by_time = True

    def __init__(
        self,
        clusters: Clusters,
        drivers: Drivers,
        jobs: FinalizedJobs,
        tokens: ReportTokens,
        clock: Callable[[], float],
        on_change: Callable[[JobKey], None],
        stopwatch: Callable[[], float] = monotonic,
    ) -> None:
        self._clusters = clusters
        self._drivers = drivers
        self._jobs = jobs
        self._tokens = tokens
        self._clock = clock
        self._on_change = on_change
        self._stopwatch = stopwatch
        self._read: dict[JobKey, tuple[float, SlurmCluster | None]] = {}
        self._sites: dict[tuple[JobKey, str], _Site] = {}

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        """See Runtime. Of a job that was never submitted a refusal is final; of one that was, nothing is known then."""
        self._tokens.learn(job)
        try:
            site = await self._site(job)
        except Refused as error:
            if job.status.slurm is None:
                raise
            raise Unreachable(str(error)) from error
        return await site.runtime.placements(job)

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        """See Runtime."""
        await (await self._site(job)).runtime.create(job, attempt, excluded_nodes)

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        """See Runtime."""
        await (await self._site(job)).runtime.remove(job, attempt, force)

    def forget(self, uid: str) -> None:
        """The TrainingJob is gone."""
        self._tokens.forget(uid)
        for site in self._sites.values():
            site.runtime.forget(uid)

    async def close(self) -> None:
        """Look at no cluster any more."""
        for site in self._sites.values():
            await site.close()
        self._sites.clear()

    async def _cluster(self, key: JobKey) -> SlurmCluster | None:
        """As stored a moment ago: hundreds of jobs ask for the same one."""
        read_at, cluster = self._read.get(key, (float("-inf"), None))
        if cluster is None or self._stopwatch() - read_at >= CLUSTER_SECONDS:
            read_at, cluster = self._stopwatch(), await self._clusters.get(key)
            self._read[key] = read_at, cluster
        return cluster

    async def _site(self, job: TrainingJob) -> "_Site":
        assert job.spec.slurm is not None
        assert job.spec.slurm.cluster_ref is not None
        reference = job.spec.slurm.cluster_ref
        key = JobKey(reference.namespace or job.metadata.namespace, reference.name)
        cluster = await self._cluster(key)
        if cluster is None:
            raise Unreachable(f"there is no SlurmCluster {key.name} in namespace {key.namespace}")
        whose = identity(cluster, job.metadata.namespace)
        if whose.refusal:
            raise Unreachable(whose.refusal) if whose.unproven else Refused(whose.refusal)
        driver = await self._drivers.driver(cluster, whose.user)
        site = self._sites.get((key, whose.user))
        if site is None or site.driver is not driver:
            if site is not None:
                await site.close()
            files = ClusterFiles(cluster.spec, self._jobs, self._tokens)
            site = self._sites[key, whose.user] = _Site(driver, files, self._clock, self._on_change)
        return site


class _Site:
    """One user's jobs on one cluster."""

    def __init__(
        self, driver: Driver, files: ClusterFiles, clock: Callable[[], float], on_change: Callable[[JobKey], None]
    ) -> None:
        self.driver = driver
        view = ClusterView(driver)
        self.runtime = SlurmRuntime(view, files, clock, on_change)
        self._looking = asyncio.get_running_loop().create_task(view.run())

    async def close(self) -> None:
        self._looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._looking
