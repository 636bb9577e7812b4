"""What the placements' settings rest on: how a real Job controller, scheduler and kubelet treat them."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from kubernetes.aio.client import ApiClient, Configuration
from kubernetes.aio.config import load_kube_config

from hedgerow_operator.adapters.kube.api import Api
from hedgerow_operator.adapters.kube.nodes import Nodes
from hedgerow_operator.adapters.kube.runtime import KubeRuntime
from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.build.injection import Injection
from hedgerow_operator.build.placement import placement_job
from hedgerow_operator.core.seen import PlacementSeen
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.images import PYTHON_IMAGE

Result = TypeVar("Result")
INJECTION = Injection(image="unused", report_url="http://unused:1")
# Ends with this code when it is asked to go; a launcher whose ranks have all ended says 0, else 143.
SCRIPT = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit({code})); time.sleep(600)"
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "seccompProfile": {"type": "RuntimeDefault"},
}
SETTLE_SECONDS = 6.0


class Placement:
    """A Job as Hedgerow makes it, without launcher (nobody would answer it) and owner (there is none to keep it)."""

    def __init__(self, cluster: Cluster, namespace: str, name: str, **spec: Any) -> None:
        self.cluster, self.namespace = cluster, namespace
        container = {
            "name": "trainer",
            "image": PYTHON_IMAGE,
            "imagePullPolicy": "Never",
            "securityContext": RESTRICTED,
        }
        container["command"] = ["python3", "-c", SCRIPT.format(code=spec.pop("code", 143))]
        container |= spec.pop("container", {})
        fields = {"workers": 2, "ranksPerWorker": 1, "recovery": {"graceSeconds": 0}}
        template = {"spec": {"containers": [container], **spec.pop("pod", {})}}
        metadata = {"name": name, "namespace": namespace, "uid": str(uuid.uuid4())}
        self.job = training_job({"metadata": metadata, "spec": {**fields, "kubernetes": {"template": template}}})
        self.manifest = self._manifest(self.job, spec.pop("excluded", ()), container["command"])

    def create(self) -> set[str]:
        """Create it; returns its pods once every worker has one."""
        self.cluster.kubectl("create", "-f", "-", stdin=json.dumps(self.manifest))
        self.cluster.wait_for("every worker to have a pod", lambda _: len(self.pods()) == 2)
        return set(self.pods())

    def run(self) -> set[str]:
        """Create it; returns its pods once every worker runs."""
        names = self.create()
        self.cluster.wait_for("every worker to run", lambda _: set(self.phases().values()) == {"Running"})
        return names

    def pods(self) -> list[str]:
        """Names of its pods."""
        return list(self.phases())

    def phases(self) -> dict[str, str]:
        """Phase of each of its pods."""
        selector = f"hedgerow.dev/job-uid%3D{self.job.metadata.uid}"
        items = self.cluster.api.get(f"/api/v1/namespaces/{self.namespace}/pods?labelSelector={selector}")["items"]
        return {pod["metadata"]["name"]: pod["status"].get("phase", "") for pod in items}

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """kubectl in its namespace."""
        return self.cluster.kubectl("-n", self.namespace, *arguments, stdin=stdin)

    def seen(self) -> PlacementSeen:
        """What the operator sees of it."""
        (placement,) = with_runtime(self.cluster, lambda runtime: runtime.placements(self.job))
        return placement

    def remove(self, *force: str) -> None:
        """Have the operator remove it."""
        with_runtime(self.cluster, lambda runtime: runtime.remove(self.job, 1, force))

    def wait_gone(self) -> None:
        """Wait until the operator sees nothing of it."""
        look = with_runtime_call(self.cluster, self.job)
        self.cluster.wait_for("nothing to be left of the placement", lambda _: look() == ())

    @staticmethod
    def _manifest(job: TrainingJob, excluded: tuple[str, ...], command: list[str]) -> dict[str, Any]:
        manifest = placement_job(job, 1, excluded, INJECTION)
        del manifest["metadata"]["ownerReferences"]
        pod = manifest["spec"]["template"]["spec"]
        pod |= {"initContainers": [], "volumes": [], "terminationGracePeriodSeconds": 5}
        pod["containers"][0] |= {"command": command, "volumeMounts": []}
        return manifest


def with_runtime(cluster: Cluster, work: Callable[[KubeRuntime], Awaitable[Result]]) -> Result:
    """What ``work`` returns for the operator's runtime on this cluster."""

    async def call() -> Result:
        configuration = Configuration()
        await load_kube_config(config_file=str(cluster.kubeconfig), client_configuration=configuration)
        async with ApiClient(configuration) as client:
            api = Api(client)
            return await work(KubeRuntime(api, Nodes(api, time.monotonic), INJECTION, time.time))

    return asyncio.run(call())


def with_runtime_call(cluster: Cluster, job: TrainingJob) -> Callable[[], tuple[PlacementSeen, ...]]:
    """A function that looks at the job's placements."""
    return lambda: with_runtime(cluster, lambda runtime: runtime.placements(job))


def evict(placement: Placement, pod: str) -> None:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
    path = f"/api/v1/namespaces/{placement.namespace}/pods/{pod}/eviction"
    placement.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))


def delete(placement: Placement, pod: str) -> None:
    placement.kubectl("delete", "pod", pod, "--wait=false")


def force(placement: Placement, pod: str) -> None:
    placement.kubectl("delete", "pod", pod, "--wait=false", "--force", "--grace-period=0")


NOWHERE = {"nodeSelector": {"there-is": "none"}}
LOSSES: dict[str, tuple[Callable[[Placement, str], None], dict[str, Any]]] = {
    "deleted": (delete, {}),
    "deleted, and it ends well": (delete, {"code": 0}),
    "deleted by force": (force, {}),
    "evicted": (evict, {}),
    "evicted, and it ends well": (evict, {"code": 0}),
    "deleted before it has a node": (delete, {"pod": NOWHERE}),
}


def test_a_lost_worker_is_never_replaced_in_its_placement(cluster: Cluster, namespace: str) -> None:
    placements = {
        loss: Placement(cluster, namespace, f"lost-{number}", **spec)
        for number, (loss, (_, spec)) in enumerate(LOSSES.items())
    }
    before = {loss: place.create() if "pod" in LOSSES[loss][1] else place.run() for loss, place in placements.items()}
    for loss, place in placements.items():
        LOSSES[loss][0](place, min(before[loss]))
    new: dict[str, set[str]] = {}
    until = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < until:
        for loss, place in placements.items():
            if more := set(place.pods()) - before[loss]:
                new[loss] = more
    assert new == {}
    assert min(before["evicted"]) not in placements["evicted"].pods()


def test_a_placement_that_lost_a_worker_is_over(cluster: Cluster, namespace: str) -> None:
    placement = Placement(cluster, namespace, "over")
    delete(placement, min(placement.run()))
    seen = cluster.wait_for("the placement to be over", lambda _: (found := placement.seen()).ended and found)
    assert seen.ended == "Failed"
    assert "exit code 143" in seen.ended_reason


def test_workers_stay_away_from_excluded_nodes(cluster: Cluster, namespace: str) -> None:
    placement = Placement(cluster, namespace, "excluding", excluded=("node1", "node2"))
    placement.run()
    assert {worker.node for worker in placement.seen().workers} == {"node3"}


def test_a_placement_that_is_removed_leaves_nothing(cluster: Cluster, namespace: str) -> None:
    placement = Placement(cluster, namespace, "leaving")
    placement.run()
    placement.remove()
    assert placement.seen().removing
    placement.wait_gone()


def test_workers_without_their_job_are_removed_too(cluster: Cluster, namespace: str) -> None:
    placement = Placement(cluster, namespace, "orphans")
    placement.run()
    placement.kubectl("delete", "job", "orphans-1", "--cascade=orphan")
    seen = placement.seen()
    assert (seen.removing, len(seen.workers)) == (True, 2)
    placement.remove()
    placement.wait_gone()


@pytest.mark.alone
def test_a_worker_on_a_dead_node_stays_until_it_is_forced(cluster: Cluster, namespace: str) -> None:
    placement = Placement(cluster, namespace, "stranded")
    placement.run()
    stranded = placement.seen().workers[0]
    cluster.node(stranded.node).kill()
    cluster.wait_for("the node to be silent", lambda _: placement.seen().workers[0].node_silent, 40)
    placement.remove()
    others = [worker for worker in placement.seen().workers if worker.node != stranded.node]
    cluster.wait_for("the others to go", lambda _: len(placement.pods()) == 2 - len(others))
    assert stranded.name in placement.pods()
    placement.remove(*(worker.name for worker in placement.seen().workers))
    placement.wait_gone()


@pytest.mark.parametrize(
    ("label", "container", "expected"),
    [
        pytest.param("restricted", {"securityContext": {}}, "violates PodSecurity", id="the namespace forbids them"),
        pytest.param(
            "privileged",
            {"resources": {"requests": {"nvidia.com/gpu": "3"}, "limits": {"nvidia.com/gpu": "3"}}},
            "exceeded quota",
            id="the quota is used up",
        ),
    ],
)
def test_workers_that_cannot_be_made_say_why(
    cluster: Cluster, namespace: str, label: str, container: dict[str, Any], expected: str
) -> None:
    cluster.kubectl("label", "namespace", namespace, f"pod-security.kubernetes.io/enforce={label}")
    cluster.kubectl("-n", namespace, "create", "quota", "gpus", "--hard=requests.nvidia.com/gpu=2")
    placement = Placement(cluster, namespace, "blocked", container=container)
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(placement.manifest))
    seen = cluster.wait_for("the reason", lambda _: [w for w in placement.seen().workers if w.waiting], 20)
    assert {worker.index for worker in seen} == {0, 1}
    assert all(expected in worker.waiting for worker in seen)


def test_an_image_that_is_nowhere_is_named(cluster: Cluster, namespace: str) -> None:
    placement = Placement(cluster, namespace, "imageless", container={"image": "localhost/nowhere:1"})
    placement.create()
    seen = cluster.wait_for("the reason", lambda _: [w for w in placement.seen().workers if w.waiting], 20)
    assert "container trainer: ErrImageNeverPull" in seen[0].waiting
