"""The drivers of SlurmClusters: made once, made anew when their object changes, and asked as the object says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.adapters.slurm.clusters import ClusterDrivers, own_user
from hedgerow_operator.adapters.slurm.pyslurm.driver import PySlurmDriver
from hedgerow_operator.adapters.slurm.rest.driver import RESTDriver
from hedgerow_operator.api import reasons
from hedgerow_operator.api.slurm_cluster import SlurmCluster, slurm_cluster
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode
from hedgerow_operator.reconcile.ports import JobKey, Refused, Unreachable


def cluster(**spec: Any) -> SlurmCluster:
    fields = {"driver": "CLI", "reportURL": "https://r", "tokenDirectory": "/t", **spec}
    return slurm_cluster({"metadata": {"name": "hpc", "namespace": "slurm"}, "spec": fields})


def by_network(**spec: Any) -> SlurmCluster:
    return cluster(driver="REST", url="http://127.0.0.1:1", user="ml", tokenSecretRef={"name": "t"}, **spec)


async def no_secret(namespace: str, name: str, key: str) -> str:
    raise Refused(f"there is no Secret {namespace}/{name}")


@pytest.fixture
def drivers() -> ClusterDrivers:
    return ClusterDrivers(no_secret, lambda: 0.0)


KINDS = {
    "commands": (cluster(), CliDriver),
    "pyslurm": (cluster(driver="PySlurm"), PySlurmDriver),
    "slurmrestd": (cluster(driver="REST", url="unix:/s", user="ml"), RESTDriver),
}


@pytest.mark.parametrize(("one", "kind"), KINDS.values(), ids=KINDS.keys())
async def test_the_object_says_which_driver_it_is(one: SlurmCluster, kind: type, drivers: ClusterDrivers) -> None:
    assert isinstance(await drivers.driver(one, ""), kind)
    await drivers.close()


async def test_it_is_kept_until_the_object_changes_or_is_gone(drivers: ClusterDrivers) -> None:
    first = await drivers.driver(cluster(), "")
    assert await drivers.driver(cluster(), "") is first
    changed = await drivers.driver(cluster(allowDrain=True), "")
    assert changed is not first
    await drivers.forget(JobKey("slurm", "hpc"))
    assert await drivers.driver(cluster(allowDrain=True), "") is not changed


async def test_commands_are_never_another_users(drivers: ClusterDrivers) -> None:
    assert isinstance(await drivers.driver(cluster(user=own_user()), own_user()), CliDriver)
    seen = await drivers.ask(cluster(user="somebody-else"))
    assert seen.refused is not None
    assert seen.refused[0] == reasons.USER_REFUSED
    assert f"write user: {own_user()}" in seen.refused[1]


async def test_a_secret_that_is_not_there_is_told(drivers: ClusterDrivers) -> None:
    seen = await drivers.ask(by_network())
    assert seen.refused == (reasons.TOKEN_MISSING, "there is no Secret slurm/t")


async def test_a_cluster_that_nobody_listens_for_is_unreachable() -> None:
    async def secret(namespace: str, name: str, key: str) -> str:
        return "eyJ"

    drivers = ClusterDrivers(secret, lambda: 0.0)
    seen = await drivers.ask(by_network())
    assert seen.unreachable.startswith("http://127.0.0.1:1 cannot be reached")
    assert "eyJ" not in seen.unreachable
    await drivers.close()


class Pretended:
    """A driver whose user may or may not list jobs."""

    def __init__(self, user: str, *, may: bool) -> None:
        self.user, self.may = user, may

    async def version(self) -> str:
        return "22.05.8"

    async def nodes(self) -> Sequence[SlurmNode]:
        return [SlurmNode(name="n1", state="IDLE")]

    async def jobs(self) -> Sequence[SlurmJob]:
        if not self.may:
            raise Unreachable("Authentication failure")
        return []


async def test_users_that_the_token_does_not_let_us_be_are_named(
    drivers: ClusterDrivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drivers, "_made", lambda _cluster, user: Pretended(user, may=user != "bob"))
    allowed = [{"name": "a"}, {"name": "b", "user": "bob"}, {"name": "c", "user": "ml"}, {"name": "d", "user": "dan"}]
    seen = await drivers.ask(by_network(allowedNamespaces=allowed))
    assert (seen.version, len(seen.nodes), seen.refused_users) == ("22.05.8", 1, ("bob",))
