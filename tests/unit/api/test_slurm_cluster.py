"""The kind SlurmCluster: its CustomResourceDefinition, and its rules, which CEL and Python read alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cel
import pytest

from hedgerow_operator.api.crdgen import render, slurm_cluster_crd
from hedgerow_operator.api.slurm_cluster import slurm_cluster, slurm_cluster_fields
from hedgerow_operator.api.slurm_cluster_rules import SLURM_CLUSTER_RULES
from tests.unit.api.test_crd import nodes

FILE = Path(__file__).parents[3] / "crds" / "slurmclusters.hedgerow.dev.yaml"
CRD = slurm_cluster_crd()["spec"]
VERSION = CRD["versions"][0]
NODES = dict(nodes(VERSION["schema"]["openAPIV3Schema"]))

COMMON = {"reportURL": "https://hedgerow.example", "tokenDirectory": "/shared/hedgerow"}
NETWORK = {
    **COMMON,
    "driver": "REST",
    "url": "https://slurm.example:6820",
    "user": "ml",
    "tokenSecretRef": {"name": "t"},
}
SOCKET = {**COMMON, "driver": "REST", "url": "unix:/run/slurmrestd.socket", "user": "ml"}
COMMANDS = {**COMMON, "driver": "CLI"}

GOOD: dict[str, dict[str, Any]] = {
    "over the network": NETWORK,
    "over a socket": SOCKET,
    "by commands": COMMANDS,
    "by pyslurm": {**COMMON, "driver": "PySlurm", "user": "ml"},
    "for other namespaces": {**NETWORK, "allowedNamespaces": [{"name": "a"}, {"name": "b", "user": "bob"}]},
    "for other namespaces by commands": {**COMMANDS, "allowedNamespaces": [{"name": "a"}]},
}
BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "REST without an address": ({**NETWORK, "url": ""}, "spec.url", "write where slurmrestd listens"),
    "an address that is none": ({**NETWORK, "url": "slurm.example:6820"}, "spec.url", "write http://HOST:PORT"),
    "a secret in the address": ({**SOCKET, "url": "https://ml:secret@h", "tokenSecretRef": {"name": "t"}}, "spec.url",
                                "secrets belong into tokenSecretRef"),
    "an address beside commands": ({**COMMANDS, "url": "https://h"}, "spec.driver", "are for driver REST"),
    "a token beside commands": ({**COMMANDS, "tokenSecretRef": {"name": "t"}}, "spec.driver", "are for driver REST"),
    "no token over the network": ({**SOCKET, "url": "http://h"}, "spec.tokenSecretRef", "wants a token"),
    "REST without a user": ({**SOCKET, "user": ""}, "spec.user", "write the user"),
    "a report URL that is none": ({**COMMANDS, "reportURL": "hedgerow"}, "spec.reportURL", "write http://HOST:PORT"),
    "other users without a token": ({**COMMANDS, "allowedNamespaces": [{"name": "a", "user": "bob"}]},
                                    "spec.allowedNamespaces", "only a token"),
}  # fmt: skip


def broken(spec: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The rules that it breaks, by CEL and by Python, each as PLACE: MESSAGE."""
    cluster = slurm_cluster({"metadata": {"name": "hpc"}, "spec": spec})
    value = {"self": slurm_cluster_fields(cluster)["spec"]}
    said = {rule: f"{rule.place}: {rule.message}" for rule in SLURM_CLUSTER_RULES}
    return (
        [said[rule] for rule in SLURM_CLUSTER_RULES if not cel.evaluate(rule.cel, value)],
        [said[rule] for rule in SLURM_CLUSTER_RULES if not rule.holds(cluster.spec)],
    )


@pytest.mark.parametrize("spec", GOOD.values(), ids=GOOD.keys())
def test_a_cluster_is_taken_that_is_reached(spec: dict[str, Any]) -> None:
    assert broken(spec) == ([], [])


@pytest.mark.parametrize(("spec", "place", "said"), BAD.values(), ids=BAD.keys())
def test_is_refused_with_what_to_write(spec: dict[str, Any], place: str, said: str) -> None:
    by_cel, by_python = broken(spec)
    assert by_cel == by_python
    assert any(sentence.startswith(f"{place}: ") and said in sentence for sentence in by_cel)


def test_some_cluster_breaks_each_rule() -> None:
    said = {sentence for spec, _place, _said in BAD.values() for sentence in broken(spec)[0]}
    assert said == {f"{rule.place}: {rule.message}" for rule in SLURM_CLUSTER_RULES}


def test_the_checked_in_file_is_what_the_structs_say() -> None:
    assert FILE.read_text(encoding="utf-8") == render(slurm_cluster_crd())


def test_it_has_a_namespace_and_a_short_name() -> None:
    assert (CRD["scope"], CRD["names"]["shortNames"]) == ("Namespaced", ["slc"])


def test_kubectl_get_says_whether_it_is_fine_and_if_not_why() -> None:
    shown = [column["name"] for column in VERSION["additionalPrinterColumns"] if not column.get("priority")]
    assert shown == ["State", "Reason", "Driver", "Version", "Nodes", "Age"]
    for column in VERSION["additionalPrinterColumns"]:
        if column["type"] != "date":
            assert NODES[column["jsonPath"].removeprefix(".")]["type"] == column["type"], column


def test_no_field_of_it_can_hold_a_secret() -> None:
    assert [at for at in NODES if "token" in at.lower() or "password" in at.lower()] == [
        "spec.tokenSecretRef", "spec.tokenSecretRef.name", "spec.tokenSecretRef.key",
        "spec.agentTokenSecretRef", "spec.agentTokenSecretRef.name", "spec.agentTokenSecretRef.key",
        "spec.tokenDirectory",
    ]  # fmt: skip


def test_every_field_is_described() -> None:
    plain = ("metadata", "metadata.name")
    assert [
        at for at, entry in NODES.items() if not at.endswith("[]") and at not in plain and "description" not in entry
    ] == []
