"""Jobs that name a SlurmCluster: whom it is for, what is refused, what is only not known; and how one is deleted."""

from typing import Any

import msgspec
import pytest

from hedgerow_operator.adapters.slurm.clusters_runtime import ClustersRuntime
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.report_tokens import ReportTokens
from hedgerow_operator.api.labels import FINALIZER_SLURM
from hedgerow_operator.api.slurm_cluster import SlurmCluster, slurm_cluster
from hedgerow_operator.api.status import SlurmJobStatus, TrainingJobStatus
from hedgerow_operator.core.slurm.comments import comment_of
from hedgerow_operator.reconcile.ports import JobKey, Refused, Unreachable
from hedgerow_operator.reconcile.slurm_jobs import SlurmFarewell
from tests.unit.core.builders import UID, make_job
from tests.unit.reconcile.fakes import Calls
from tests.unit.slurm.pretended_cluster import PretendedSlurm
from tests.unit.slurm.test_files_of_jobs import Store


class Site:
    """One SlurmCluster in namespace hpc, which allows others, and a job of namespace ml."""

    def __init__(self, *allowed: str, namespace: str = "hpc", **status: Any) -> None:
        self.slurm, self.exists, self.reads = PretendedSlurm(), True, 0
        self.allowed = [{"name": name} for name in allowed]
        fields = {"local": None, "slurm": {"script": "train", "clusterRef": {"name": "big", "namespace": namespace}}}
        self.job = make_job(fields, status=TrainingJobStatus(attempt=1, placement=1, attempt_stage="Placing", **status))
        self.store = Store(self.job, Calls())
        self.users: list[str] = []
        self.runtime = ClustersRuntime(
            self, self, self.store, ReportTokens(), self.slurm.wall, lambda key: None,
            stopwatch=lambda: self.slurm.now)  # fmt: skip

    async def get(self, key: JobKey) -> SlurmCluster | None:
        self.reads += 1
        if not self.exists or key != JobKey("hpc", "big"):
            return None
        return slurm_cluster({
            "metadata": {"name": "big", "namespace": "hpc"},
            "spec": {"driver": "CLI", "user": "ml", "reportURL": "http://operator", "tokenDirectory": "/shared",
                     "allowedNamespaces": self.allowed},
        })  # fmt: skip

    async def driver(self, cluster: SlurmCluster, user: str) -> Driver:
        self.users.append(user)
        return self.slurm


async def test_a_job_of_a_namespace_that_is_allowed_is_submitted_as_the_clusters_user() -> None:
    site = Site("ml")
    await site.runtime.create(site.job, 1, ())
    assert ([entry.comment for entry in site.slurm.submissions], site.users) == ([comment_of(UID, 1)], ["ml"])
    await site.runtime.close()


@pytest.mark.parametrize("call", ["placements", "create"])
async def test_a_job_of_another_namespace_is_refused(call: str) -> None:
    site = Site("other")
    with pytest.raises(Refused, match="does not allow namespace ml"):
        await (site.runtime.placements(site.job) if call == "placements" else site.runtime.create(site.job, 1, ()))
    assert site.slurm.calls == []


async def test_a_job_that_runs_is_only_not_seen_any_more_when_its_namespace_is_taken_off_the_list() -> None:
    site = Site("other", slurm=SlurmJobStatus(job_id="7", placement=1, state="RUNNING"))
    with pytest.raises(Unreachable, match="does not allow namespace ml"):
        await site.runtime.placements(site.job)


async def test_hundreds_of_jobs_read_their_cluster_every_few_seconds_only() -> None:
    site = Site("ml")
    for _ in range(100):
        await site.runtime.placements(site.job)
    assert site.reads == 1
    site.slurm.now += 6.0
    site.allowed = []
    with pytest.raises(Refused):
        await site.runtime.placements(site.job)
    await site.runtime.close()


async def test_a_cluster_that_is_not_there_is_waited_for_and_named() -> None:
    site = Site("ml")
    site.exists = False
    with pytest.raises(Unreachable, match="no SlurmCluster big in namespace hpc"):
        await site.runtime.create(site.job, 1, ())


async def test_without_a_namespace_it_is_one_of_the_jobs_own() -> None:
    site = Site(namespace="")
    with pytest.raises(Unreachable, match="no SlurmCluster big in namespace ml"):
        await site.runtime.placements(site.job)


async def test_a_job_that_is_deleted_leaves_once_its_slurm_job_has_ended() -> None:
    site = Site("ml")
    await site.runtime.create(site.job, 1, ())
    assert site.store.job is not None
    deleted = msgspec.structs.replace(site.store.job.metadata, deletion_timestamp="2027-01-01T00:00:00Z")
    job = msgspec.structs.replace(site.store.job, metadata=deleted)
    farewell = SlurmFarewell(site.store, site.runtime)
    assert not await farewell.leave(job)
    assert "cancel 1" in site.slurm.calls
    site.slurm.change_job("1", state="CANCELLED", flags=frozenset())
    site.slurm.now += 6.0
    assert not await farewell.leave(site.store.job)  # its end is shown once
    assert await farewell.leave(job)
    assert site.store.job.metadata.finalizers == ()
    await site.runtime.close()


async def test_a_job_that_was_never_submitted_leaves_at_once() -> None:
    site = Site("ml")
    assert FINALIZER_SLURM not in site.job.metadata.finalizers
    assert await SlurmFarewell(site.store, site.runtime).leave(site.job)
    assert site.slurm.calls == []
