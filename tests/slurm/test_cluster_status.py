"""A SlurmCluster is asked: what a real Slurm answers by slurmrestd, over TCP, and by its commands."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from hedgerow_operator.adapters.slurm.clusters import ClusterDrivers, own_user
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import find_condition
from hedgerow_operator.api.slurm_cluster import READY, SlurmCluster, SlurmClusterStatus, slurm_cluster
from hedgerow_operator.core.slurm.clusters import cluster_status, identity
from hedgerow_operator.reconcile.ports import Refused
from tests.slurm.testbed.testbed import Testbed


def cluster(**spec: Any) -> SlurmCluster:
    fields = {"reportURL": "http://h:8080", "tokenDirectory": "/shared", **spec}
    return slurm_cluster({"metadata": {"name": "hpc", "namespace": "slurm"}, "spec": fields})


def by_network(slurm: Testbed, user: str, **spec: Any) -> SlurmCluster:
    return cluster(driver="REST", url=slurm.rest_url, user=user, tokenSecretRef={"name": "t"}, **spec)


async def asked(one: SlurmCluster, token: str) -> SlurmClusterStatus:
    """Its status, where its Secret holds this token."""

    async def secret(namespace: str, name: str, key: str) -> str:
        assert (namespace, name, key) == ("slurm", "t", "token")
        if not token:
            raise Refused("there is no Secret slurm/t")
        return token

    drivers = ClusterDrivers(secret, time.time)
    try:
        return cluster_status(one, await drivers.ask(one), 1000.0)
    finally:
        await drivers.close()


def said(status: SlurmClusterStatus) -> tuple[str, str, str]:
    condition = find_condition(status.conditions, READY)
    assert condition is not None
    return condition.status, condition.reason, condition.message


async def test_by_slurmrestd_it_is_ready_with_its_version_and_nodes(slurm: Testbed) -> None:
    status = await asked(by_network(slurm, "root"), slurm.token("root"))
    assert said(status)[:2] == ("True", reasons.ANSWERS), said(status)
    assert (status.version, status.nodes) == ("22.05.8", "4/4")


async def test_by_its_commands_too(slurm: Testbed, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    status = await asked(cluster(driver="CLI", user=own_user()), "")
    assert said(status)[:2] == ("True", reasons.ANSWERS), said(status)
    assert (status.version, status.nodes) == ("22.05.8", "4/4")


TOKENS: dict[str, Callable[[Testbed], str]] = {
    "is none": lambda slurm: "eyJhbGciOiJIUzI1NiJ9.e30.AAAA",
    "is somebody else's": lambda slurm: slurm.token("nobody"),
}


@pytest.mark.parametrize("made", TOKENS.values(), ids=TOKENS.keys())
async def test_it_is_not_ready_with_a_token_that(made: Callable[[Testbed], str], slurm: Testbed) -> None:
    token = made(slurm)
    status, _reason, message = said(await asked(by_network(slurm, "root"), token))
    assert status != "True"
    assert token not in message


async def test_a_token_lets_us_act_as_its_own_user_only(slurm: Testbed) -> None:
    allowed = [{"name": "team-a"}, {"name": "team-b", "user": "root"}]
    one = by_network(slurm, "nobody", allowedNamespaces=allowed)
    status = await asked(one, slurm.token("nobody"))
    assert status.refused_users == ("root",)
    seen = structs.replace(one, status=status)
    assert identity(seen, "team-a").user == "nobody"
    assert identity(seen, "team-b").unproven


async def test_a_controller_that_is_away_is_unreachable(fresh_slurm: Testbed) -> None:
    token = fresh_slurm.token("root")
    fresh_slurm.kill("slurmctld")
    status = await asked(by_network(fresh_slurm, "root"), token)
    assert said(status)[:2] == ("Unknown", reasons.UNREACHABLE)
