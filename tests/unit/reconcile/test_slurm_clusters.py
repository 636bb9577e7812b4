"""A SlurmCluster is asked by the operator that leads, and written only where something has changed."""

from __future__ import annotations

from msgspec import structs

from hedgerow_operator.api.slurm_cluster import SlurmCluster, SlurmClusterStatus, slurm_cluster
from hedgerow_operator.core.slurm.clusters import ClusterSeen
from hedgerow_operator.reconcile.ports import Conflict, JobKey
from hedgerow_operator.reconcile.slurm_clusters import (
    CONFLICT_SECONDS,
    LOOK_SECONDS,
    RETRY_SECONDS,
    ClusterReconciler,
)
from tests.unit.reconcile.fakes import FakeLeadership

KEY = JobKey("slurm", "hpc")
SPEC = {"driver": "CLI", "reportURL": "https://r", "tokenDirectory": "/t"}


class Stored:
    """One object, or none."""

    def __init__(self) -> None:
        self.cluster: SlurmCluster | None = slurm_cluster(
            {"metadata": {"name": "hpc", "namespace": "slurm"}, "spec": SPEC}
        )
        self.writes: list[SlurmClusterStatus] = []
        self.conflict = False

    async def get(self, key: JobKey) -> SlurmCluster | None:
        assert key == KEY
        return self.cluster

    async def write_status(self, cluster: SlurmCluster, status: SlurmClusterStatus) -> SlurmCluster:
        if self.conflict:
            raise Conflict("changed")
        self.writes.append(status)
        self.cluster = structs.replace(cluster, status=status)
        return self.cluster


class Answers:
    """What the cluster answers."""

    def __init__(self) -> None:
        self.seen = ClusterSeen(version="22.05.8")
        self.asked = 0
        self.forgotten: list[JobKey] = []

    async def ask(self, cluster: SlurmCluster) -> ClusterSeen:
        self.asked += 1
        return self.seen

    async def forget(self, key: JobKey) -> None:
        self.forgotten.append(key)


class World:
    """A reconciler over both, and the clusters that it told of."""

    def __init__(self) -> None:
        self.stored, self.answers, self.leadership = Stored(), Answers(), FakeLeadership()
        self.told: list[JobKey] = []
        self.now = 1000.0
        self.reconciler = ClusterReconciler(
            self.stored, self.answers, self.leadership, lambda: self.now, self.told.append
        )

    async def look(self) -> float | None:
        self.now += 60
        return await self.reconciler.reconcile(KEY)


async def test_a_cluster_that_stays_as_it_is_is_written_once() -> None:
    world = World()
    assert [await world.look() for _ in range(3)] == [LOOK_SECONDS] * 3
    assert [(status.state, status.version) for status in world.stored.writes] == [("Ready", "22.05.8")]
    assert world.told == [KEY]


async def test_one_that_cannot_be_asked_is_asked_again_soon() -> None:
    world = World()
    world.answers.seen = ClusterSeen(unreachable="no route")
    assert await world.look() == RETRY_SECONDS
    assert world.stored.writes[-1].state == "Unreachable"


async def test_one_that_is_gone_is_let_go_of() -> None:
    world = World()
    world.stored.cluster = None
    assert await world.look() is None
    assert (world.answers.forgotten, world.answers.asked) == ([KEY], 0)


async def test_an_operator_that_does_not_lead_asks_nobody() -> None:
    world = World()
    world.leadership.looks = 0
    assert await world.look() == RETRY_SECONDS
    assert world.answers.asked == 0


async def test_one_that_was_changed_meanwhile_is_read_again() -> None:
    world = World()
    world.stored.conflict = True
    assert await world.look() == CONFLICT_SECONDS
    assert world.told == []
