"""Which pods are asked for the GPUs of which node is what the API server says, and nobody else."""

from __future__ import annotations

from typing import Any, cast

import pytest

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.exporters import KubeExporters
from hedgerow_operator.reconcile.exporters import Exporter, ExporterRules
from hedgerow_operator.reconcile.ports import Unreachable

RULES = ExporterRules(namespace="gpu-operator", selector="app=nvidia-dcgm-exporter", port=9400)


def pod(name: str = "a", node: str = "node1", **changes: Any) -> dict[str, Any]:
    """A running exporter."""
    status = {"phase": "Running", "podIP": "10.0.0.7", "containerStatuses": [{"restartCount": 2}]}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z",
                     **changes.get("metadata", {})},
        "spec": {"nodeName": node},
        "status": {**status, **changes.get("status", {})},
    }  # fmt: skip


class Listed:
    """An API server that has these pods."""

    def __init__(self, *pods: dict[str, Any]) -> None:
        self.pods = list(pods)
        self.asked: list[tuple[str, str]] = []
        self.failing: Exception | None = None

    async def list(self, path: str, labels: str = "") -> Any:
        self.asked.append((path, labels))
        if self.failing:
            raise self.failing
        return self.pods


async def running(*pods: dict[str, Any]) -> dict[str, Exporter]:
    return dict(await KubeExporters(cast("Api", Listed(*pods)), RULES).running())


async def test_each_node_has_the_exporter_that_runs_on_it() -> None:
    found = await running(pod(), pod("b", "node2", status={"podIP": "fd00::7"}))
    assert found == {
        "node1": Exporter(node="node1", url="http://10.0.0.7:9400/metrics", process="uid-a/2"),
        "node2": Exporter(node="node2", url="http://[fd00::7]:9400/metrics", process="uid-b/2"),
    }


async def test_only_pods_of_its_namespace_with_its_labels_are_asked_for() -> None:
    api = Listed()
    await KubeExporters(cast("Api", api), RULES).running()
    assert api.asked == [("/api/v1/namespaces/gpu-operator/pods", "app=nvidia-dcgm-exporter")]


NONE = {
    "one that waits for a node": pod(node=""),
    "one that has no address yet": pod(status={"podIP": None}),
    "one that has ended": pod(status={"phase": "Succeeded"}),
    "one that is being deleted": pod(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
}


@pytest.mark.parametrize("found", NONE.values(), ids=NONE)
async def test_is_not_asked(found: dict[str, Any]) -> None:
    assert await running(found) == {}


async def test_of_two_on_one_node_the_newer_one_is_asked() -> None:
    newer = pod("new", metadata={"creationTimestamp": "2026-01-02T00:00:00Z"})
    for pods in ((pod(), newer), (newer, pod())):
        assert (await running(*pods))["node1"].process == "uid-new/2"


async def test_without_the_right_to_list_nothing_is_learned() -> None:
    api = Listed()
    api.failing = Rejected(403, "Forbidden", "pods is forbidden")
    with pytest.raises(Unreachable, match="pods of gpu-operator cannot be listed"):
        await KubeExporters(cast("Api", api), RULES).running()
