"""GPUNodes are stored under the name of their node, go with it, and are written only as they were read."""

from __future__ import annotations

from typing import cast

import msgspec
import pytest

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.gpu_nodes import KubeGPUNodes
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.ports import Conflict, Unreachable
from tests.unit.kube.store import OUTAGE, Store

ALL = "/apis/hedgerow.dev/v1alpha1/gpunodes"
PATH = f"{ALL}/gpu-a"


@pytest.fixture
def store() -> Store:
    store = Store()
    store.put("/api/v1/nodes/gpu-a", {"metadata": {"name": "gpu-a", "uid": "node-uid"}})
    return store


@pytest.fixture
def nodes(store: Store) -> KubeGPUNodes:
    return KubeGPUNodes(cast("Api", store), lambda: 1000.0)


async def test_a_gpu_node_goes_with_its_node(store: Store, nodes: KubeGPUNodes) -> None:
    made = await nodes.create("gpu-a")
    assert made is not None
    assert made.metadata.name == "gpu-a"
    (owner,) = store.objects[PATH]["metadata"]["ownerReferences"]
    assert owner == {"apiVersion": "v1", "kind": "Node", "name": "gpu-a", "uid": "node-uid"}
    assert [node.metadata.name for node in await nodes.existing()] == ["gpu-a"]


async def test_none_is_made_without_a_node(nodes: KubeGPUNodes) -> None:
    assert await nodes.create("gpu-z") is None


async def test_one_that_is_there_already_is_read_again(nodes: KubeGPUNodes) -> None:
    await nodes.create("gpu-a")
    with pytest.raises(Conflict):
        await nodes.create("gpu-a")


async def test_a_status_from_an_old_object_is_not_written(store: Store, nodes: KubeGPUNodes) -> None:
    made = await nodes.create("gpu-a")
    assert made is not None
    store.objects[f"{PATH}/status"] = store.objects[PATH]
    written = await nodes.write_status(made, msgspec.structs.replace(made.status, state="Healthy"))
    assert written.status.state == "Healthy"
    with pytest.raises(Conflict):
        await nodes.write_status(made, made.status)


async def test_one_that_is_being_deleted_is_not_there(store: Store, nodes: KubeGPUNodes) -> None:
    await nodes.create("gpu-a")
    store.objects[PATH]["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    assert await nodes.existing() == []
    assert await nodes.get("gpu-a") is None


async def test_a_right_that_is_missing_teaches_nothing(store: Store, nodes: KubeGPUNodes) -> None:
    store.failing = Rejected(403, "Forbidden", "gpunodes is forbidden")
    for look in (nodes.existing, lambda: nodes.get("gpu-a"), lambda: nodes.create("gpu-a")):
        with pytest.raises(Unreachable, match="forbidden"):
            await look()


async def test_events_about_one_are_where_kubernetes_keeps_those_of_what_is_in_no_namespace(
    store: Store, nodes: KubeGPUNodes
) -> None:
    made = await nodes.create("gpu-a")
    assert made is not None
    await nodes.record(made, Event(reason="Quarantined", message="a GPU is lost", warning=True))
    ((path, event),) = [(path, fields) for path, fields in store.objects.items() if "/events/" in path]
    assert path.startswith("/api/v1/namespaces/default/events/gpu-a.")
    about = {"apiVersion": "hedgerow.dev/v1alpha1", "kind": "GPUNode", "name": "gpu-a"}
    assert event["involvedObject"] == about | ({"uid": made.metadata.uid} if made.metadata.uid else {})
    assert (event["type"], event["reason"]) == ("Warning", "Quarantined")


async def test_an_event_that_cannot_be_written_harms_nothing(nodes: KubeGPUNodes, store: Store) -> None:
    made = await nodes.create("gpu-a")
    assert made is not None
    store.failing = OUTAGE
    await nodes.record(made, Event(reason="Released", message="used again"))
    assert not [path for path in store.objects if "/events/" in path]


def of_slurm(store: Store) -> KubeGPUNodes:
    return KubeGPUNodes(cast("Api", store), lambda: 1000.0, lambda node: "ml/hpc" if node in ("n1", "gpu-a") else "")


async def test_one_of_a_node_that_only_slurm_has_says_whose_it_is_and_belongs_to_no_node(store: Store) -> None:
    made = await of_slurm(store).create("n1")
    assert made is not None
    assert made.metadata.annotations == {"hedgerow.dev/slurm-cluster": "ml/hpc"}
    assert made.metadata.owner_references == ()
    assert await of_slurm(store).create("n2") is None


async def test_a_node_of_both_is_one_of_kubernetes(store: Store) -> None:
    made = await of_slurm(store).create("gpu-a")
    assert made is not None
    assert (made.metadata.annotations, len(made.metadata.owner_references)) == ({}, 1)


async def test_a_node_belongs_to_the_first_cluster_that_has_proven_it(store: Store) -> None:
    nodes = of_slurm(store)
    assert await nodes.owner("n1", "ml/other") == ""
    await nodes.create("n1")
    assert await nodes.owner("n1", "ml/hpc") == ""
    assert "a node of ml/hpc (kubectl delete gpunode n1" in await nodes.owner("n1", "ml/other")


async def test_a_node_of_kubernetes_is_no_cluster_s_also_while_its_gpu_node_outlives_it(store: Store) -> None:
    nodes = of_slurm(store)
    assert await nodes.owner("gpu-a", "ml/hpc") == "a node of Kubernetes"
    await nodes.create("gpu-a")
    del store.objects["/api/v1/nodes/gpu-a"]
    assert await nodes.owner("gpu-a", "ml/hpc") == "a node of Kubernetes"
