"""The checked-in CustomResourceDefinition of GPUNode is the generated one, and says what a person asks first."""

from __future__ import annotations

from pathlib import Path

from hedgerow_operator.api import gpu_node
from hedgerow_operator.api.crdgen import gpu_node_crd, render
from hedgerow_operator.api.gpu_node import GPUNode, GPUNodeMeta, gpu_node_fields
from hedgerow_operator.api.gpu_node import gpu_node as read
from tests.unit.api.test_crd import nodes

FILE = Path(__file__).parents[3] / "crds" / "gpunodes.hedgerow.dev.yaml"
CRD = gpu_node_crd()["spec"]
VERSION = CRD["versions"][0]
NODES = dict(nodes(VERSION["schema"]["openAPIV3Schema"]))


def test_the_checked_in_file_is_what_the_structs_say() -> None:
    assert FILE.read_text(encoding="utf-8") == render(gpu_node_crd())


def test_there_is_one_for_the_whole_cluster_under_a_short_name() -> None:
    assert CRD["scope"] == "Cluster"
    assert CRD["names"]["shortNames"] == ["gn"]
    assert CRD["names"]["categories"] == ["hedgerow"]


def test_nothing_of_it_is_the_users_to_write() -> None:
    assert not [at for at in NODES if at.startswith("spec")]
    assert VERSION["subresources"] == {"status": {}}


def test_every_field_is_described_and_of_one_type() -> None:
    plain = ("metadata", "metadata.name")
    assert [
        at for at, entry in NODES.items() if not at.endswith("[]") and at not in plain and "description" not in entry
    ] == []
    assert {entry.get("type") for entry in NODES.values()} == {"object", "array", "string", "integer"}


def test_kubectl_get_says_whether_it_is_fine_and_if_not_why() -> None:
    shown = [column["name"] for column in VERSION["additionalPrinterColumns"] if not column.get("priority")]
    assert shown == ["State", "Reason", "GPUs", "Drain", "Age"]
    for column in VERSION["additionalPrinterColumns"]:
        if column["type"] != "date":
            assert NODES[column["jsonPath"].removeprefix(".")]["type"] == column["type"], column


def test_conditions_and_gpus_are_merged_by_their_key() -> None:
    assert NODES["status.conditions"]["x-kubernetes-list-map-keys"] == ["type"]
    assert NODES["status.gpus"]["x-kubernetes-list-map-keys"] == ["index"]


def test_its_condition_types_are_those_of_the_design() -> None:
    assert gpu_node.TYPES == ("Healthy", "Degraded", "Quarantined", "Unreachable")


def test_a_node_survives_a_round_trip_with_its_owner() -> None:
    node = GPUNode(metadata=GPUNodeMeta(name="gpu-a", owner_references=({"kind": "Node", "name": "gpu-a"},)))
    assert read(gpu_node_fields(node)) == node
