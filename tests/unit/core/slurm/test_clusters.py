"""What is said of a SlurmCluster, and whom its jobs belong to."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import find_condition
from hedgerow_operator.api.slurm_cluster import READY, SlurmCluster, slurm_cluster
from hedgerow_operator.core.slurm.clusters import ClusterSeen, Identity, cluster_status, identity
from hedgerow_operator.core.slurm.seen import SlurmNode

NOW = 1_700_000_000.0
ANSWERS = ClusterSeen(version="22.05.8", nodes=(SlurmNode(name="n1", state="IDLE"),))


def cluster(**spec: Any) -> SlurmCluster:
    fields = {"driver": "REST", "url": "https://h", "user": "ml", "tokenSecretRef": {"name": "t"},
              "reportURL": "https://r", "tokenDirectory": "/t", **spec}  # fmt: skip
    return slurm_cluster({"metadata": {"name": "hpc", "namespace": "slurm", "generation": 3}, "spec": fields})


def ready(seen: ClusterSeen) -> tuple[str, str, str]:
    """Status, reason and message of the condition."""
    status = cluster_status(cluster(), seen, NOW)
    condition = find_condition(status.conditions, READY)
    assert condition is not None
    assert condition.observed_generation == 3
    return condition.status, condition.reason, condition.message


SEEN: dict[str, tuple[ClusterSeen, tuple[str, str, str]]] = {
    "answers": (ANSWERS, ("True", reasons.ANSWERS, "Slurm 22.05.8 answers")),
    "is newer than any that was tried": (
        ClusterSeen(version="27.11.0"),
        ("True", reasons.ANSWERS, "Slurm 27.11.0 answers"),
    ),
    "is too old": (
        ClusterSeen(version="20.11.9"),
        (
            "False",
            reasons.VERSION_NOT_SUPPORTED,
            "Slurm 20.11.9 is older than 22.05, the oldest that is supported",
        ),
    ),
    "cannot be asked": (ClusterSeen(unreachable="no route"), ("Unknown", reasons.UNREACHABLE, "no route")),
    "never can be": (
        ClusterSeen(refused=(reasons.TOKEN_MISSING, "there is no Secret")),
        ("False", reasons.TOKEN_MISSING, "there is no Secret"),
    ),
    "lets us act as one user only": (
        structs.replace(ANSWERS, refused_users=("bob",)),
        ("True", reasons.ANSWERS, "Slurm 22.05.8 answers; it does not let us act as bob"),
    ),
}


@pytest.mark.parametrize(("seen", "want"), SEEN.values(), ids=SEEN.keys())
def test_the_condition_says_of_a_cluster_that_it(seen: ClusterSeen, want: tuple[str, str, str]) -> None:
    assert ready(seen) == want


def test_nodes_that_can_take_jobs_are_counted() -> None:
    states = [("IDLE", ()), ("MIXED", ()), ("ALLOCATED", ("COMPLETING",)), ("IDLE", ("DRAIN",)), ("DOWN", ()),
              ("IDLE", ("NOT_RESPONDING",))]  # fmt: skip
    nodes = tuple(SlurmNode(name=f"n{at}", state=state, flags=frozenset(flags)) for at, (state, flags)
                  in enumerate(states))  # fmt: skip
    assert cluster_status(cluster(), structs.replace(ANSWERS, nodes=nodes), NOW).nodes == "3/6"


def test_what_was_known_stays_while_it_cannot_be_asked() -> None:
    before = structs.replace(cluster(), status=cluster_status(cluster(), ANSWERS, NOW))
    after = cluster_status(before, ClusterSeen(unreachable="no route"), NOW + 60)
    assert (after.version, after.nodes, after.state, after.reason) == ("22.05.8", "1/1", "Unreachable", "Unreachable")


def test_a_cluster_that_is_as_it_was_has_the_status_that_it_had() -> None:
    before = structs.replace(cluster(), status=cluster_status(cluster(), ANSWERS, NOW))
    assert cluster_status(before, ANSWERS, NOW + 60) == before.status


def proven(one: SlurmCluster, seen: ClusterSeen = ANSWERS) -> SlurmCluster:
    return structs.replace(one, status=cluster_status(one, seen, NOW))


def test_jobs_of_its_own_namespace_are_its_users() -> None:
    assert identity(cluster(), "slurm") == Identity(user="ml")


def test_jobs_of_another_namespace_are_refused_unless_it_is_allowed() -> None:
    found = identity(proven(cluster()), "team-a")
    assert (found.user, found.unproven) == ("", False)
    assert found.refusal.startswith("SlurmCluster slurm/hpc does not allow namespace team-a; ")
    assert identity(proven(cluster(allowedNamespaces=[{"name": "team-a"}])), "team-a") == Identity(user="ml")


def test_nobody_uses_a_cluster_that_is_seen_not_to_work() -> None:
    refused = proven(cluster(), ClusterSeen(refused=(reasons.TOKEN_MISSING, "there is no Secret")))
    found = identity(refused, "slurm")
    assert (found.refusal, found.unproven) == ("SlurmCluster slurm/hpc is not ready: there is no Secret", True)


def test_another_user_counts_only_once_the_token_was_seen_to_allow_it() -> None:
    one = cluster(allowedNamespaces=[{"name": "team-b", "user": "bob"}])
    assert identity(proven(one), "team-b") == Identity(user="bob")
    for unproven in (one, proven(one, structs.replace(ANSWERS, refused_users=("bob",))),
                     proven(one, ClusterSeen(unreachable="no route"))):  # fmt: skip
        found = identity(unproven, "team-b")
        assert (found.user, found.unproven) == ("", True)
        assert found.refusal == "SlurmCluster slurm/hpc was not seen to let us act as bob, the user of team-b"
