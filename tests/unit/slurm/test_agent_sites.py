"""The SlurmClusters whose agents are heard: those that name a Secret, as they were last known."""

from typing import Any

import pytest

from hedgerow_operator.adapters.slurm.agent_sites import ClusterAgentSites
from hedgerow_operator.adapters.slurm.agent_tokens import AgentSite, digest
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.api.slurm_cluster import SlurmCluster, slurm_cluster
from hedgerow_operator.reconcile.ports import JobKey, Refused, Unreachable
from tests.unit.slurm.pretended_cluster import LOST, PretendedSlurm

NODES = frozenset({"n1", "n2", "n3", "n4"})


class World:
    """Two SlurmClusters, of which one hears agents; Secrets; and what was warned of."""

    def __init__(self) -> None:
        self.slurm = PretendedSlurm()
        self.secret: str | Exception = "secret"
        self.asked: list[tuple[str, str, str]] = []
        self.warned: list[tuple[str, str]] = []
        self.sites = ClusterAgentSites(
            self, self, self.read_secret, (), lambda name, why: self.warned.append((name, why))
        )

    async def existing(self, namespaces: tuple[str, ...]) -> tuple[JobKey, ...]:
        return JobKey("ml", "hpc"), JobKey("ml", "deaf"), JobKey("ml", "gone")

    async def get(self, key: JobKey) -> SlurmCluster | None:
        spec: dict[str, Any] = {"driver": "CLI", "reportURL": "https://r", "tokenDirectory": "/t"}
        if key.name == "hpc":
            spec["agentTokenSecretRef"] = {"name": "agents"}
        fields = {"metadata": {"name": key.name, "namespace": key.namespace}, "spec": spec}
        return None if key.name == "gone" else slurm_cluster(fields)

    async def driver(self, cluster: SlurmCluster, user: str) -> Driver:
        return self.slurm

    async def read_secret(self, namespace: str, name: str, key: str) -> str:
        self.asked.append((namespace, name, key))
        if isinstance(self.secret, Exception):
            raise self.secret
        return self.secret


def heard(nodes: frozenset[str] | None = NODES, token: str = "secret") -> tuple[AgentSite, ...]:
    return (AgentSite(name="ml/hpc", digest=digest(token), nodes=nodes),)


async def test_a_cluster_that_names_a_secret_is_heard_about_the_nodes_that_it_lists() -> None:
    world = World()
    assert await world.sites() == heard()
    assert (world.asked, world.warned) == ([("ml", "agents", "token")], [])


async def test_while_slurm_or_the_secret_cannot_be_asked_what_was_known_counts() -> None:
    world = World()
    await world.sites()
    world.slurm.failures["nodes"] = LOST
    world.secret = "newer"
    assert await world.sites() == heard(token="newer")
    world.secret = Unreachable("no API server")
    assert await world.sites() == heard(token="newer")


@pytest.mark.parametrize("times", [1, 2])
async def test_a_secret_that_is_missing_is_told_once_and_nobody_is_believed(times: int) -> None:
    world = World()
    await world.sites()
    world.secret = Refused("there is no Secret ml/agents")
    for _ in range(times):
        assert await world.sites() == ()
    assert world.warned == [("ml/hpc", "there is no Secret ml/agents")]


async def test_before_slurm_has_answered_once_its_nodes_are_not_known() -> None:
    world = World()
    world.slurm.failures["nodes"] = LOST
    assert await world.sites() == heard(nodes=None)
