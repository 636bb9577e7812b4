"""The cluster of the tests is a real one, and every way to break it does what its name says."""

import json
from typing import Any

import pytest

from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.errors import ClusterError
from tests.cluster.testbed.images import PYTHON_IMAGE, PYTORCH_IMAGE

ANSWER_ON_8080 = (
    "import http.server as h; h.ThreadingHTTPServer(('', 8080), h.SimpleHTTPRequestHandler).serve_forever()"
)
RESTRICTED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def run_pod(cluster: Cluster, namespace: str, name: str, node: str = "", **container: Any) -> None:
    """Create a restricted pod named and labelled `name`, on `node` when given, else where the scheduler puts it."""
    main = {
        "name": "main",
        "image": PYTHON_IMAGE,
        "imagePullPolicy": "Never",
        "command": ["python3", "-c", ANSWER_ON_8080],
        "workingDir": "/etc",
        "securityContext": RESTRICTED,
        **container,
    }
    spec = {
        "terminationGracePeriodSeconds": 1,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [main],
        **({"nodeName": node} if node else {}),
    }
    metadata = {"name": name, "namespace": namespace, "labels": {"app": name}}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))


def pod(cluster: Cluster, namespace: str, name: str) -> Any:
    """The pod as the API server has it; None when it is gone."""
    return cluster.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")


def wait_until_ready(cluster: Cluster, namespace: str, *names: str) -> None:
    """Wait until the pods are Ready."""
    pods = [f"pod/{name}" for name in names]
    cluster.kubectl("-n", namespace, "wait", "--for=condition=Ready", "--timeout=30s", *pods)


def fetch(cluster: Cluster, namespace: str, client: str, host: str) -> str:
    """What `client` gets from port 8080 of `host`, asked from inside its container."""
    script = f"import urllib.request as u; print(u.urlopen('http://{host}:8080/hostname', timeout=3).status)"
    return cluster.kubectl("-n", namespace, "exec", client, "--", "python3", "-c", script).strip()


def test_pods_on_two_nodes_reach_each_other_by_address_and_by_service_name(cluster: Cluster, namespace: str) -> None:
    run_pod(cluster, namespace, "server", "node1")
    run_pod(cluster, namespace, "client", "node2")
    cluster.kubectl("-n", namespace, "create", "service", "clusterip", "server", "--tcp=8080:8080")
    wait_until_ready(cluster, namespace, "server", "client")
    address = pod(cluster, namespace, "server")["status"]["podIP"]
    assert fetch(cluster, namespace, "client", address) == "200"

    def answers_by_name(_: object) -> bool:
        try:
            return fetch(cluster, namespace, "client", f"server.{namespace}.svc.cluster.local") == "200"
        except ClusterError:
            return False

    assert cluster.wait_for("the service to answer", answers_by_name)


def test_the_scheduler_counts_the_gpus_of_every_node(cluster: Cluster, namespace: str) -> None:
    for name in ("first", "second", "third", "fourth"):
        run_pod(cluster, namespace, name, resources={"limits": {"nvidia.com/gpu": 5}})

    def placements(_: object) -> list[str]:
        pods = [pod(cluster, namespace, name) for name in ("first", "second", "third", "fourth")]
        decided = [item for item in pods if item["status"].get("conditions")]
        return [item["spec"].get("nodeName", "nowhere") for item in decided] if len(decided) == len(pods) else []

    assert sorted(cluster.wait_for("every pod to be looked at", placements)) == ["node1", "node2", "node3", "nowhere"]


@pytest.mark.alone
def test_a_dead_a_cut_off_and_a_paused_node_are_noticed_and_come_back(cluster: Cluster, namespace: str) -> None:
    run_pod(cluster, namespace, "worker", "node3")
    wait_until_ready(cluster, namespace, "worker")
    cut_off, paused, dead = cluster.nodes
    cut_off.partition()
    paused.freeze()
    dead.kill()
    cluster.wait_for("no node to be Ready", lambda _: not any(cluster.node_ready(node.name) for node in cluster.nodes))
    cluster.kubectl("-n", namespace, "delete", "pod", "worker", "--wait=false")
    assert pod(cluster, namespace, "worker")["metadata"]["deletionTimestamp"], "nobody can say that the pod is gone"
    cut_off.reconnect()
    paused.thaw()
    dead.start()
    cluster.wait_for("the pod to go", lambda _: pod(cluster, namespace, "worker") is None)
    cluster.wait_for("every node to be Ready", lambda _: all(cluster.node_ready(node.name) for node in cluster.nodes))


@pytest.mark.alone
def test_pods_cut_off_from_the_network_run_on_and_their_node_stays_ready(cluster: Cluster, namespace: str) -> None:
    run_pod(cluster, namespace, "server", "node1")
    run_pod(cluster, namespace, "client", "node2")
    wait_until_ready(cluster, namespace, "server", "client")
    address = pod(cluster, namespace, "server")["status"]["podIP"]
    cluster.node("node1").partition_pods()
    with pytest.raises(ClusterError, match="timed out"):
        fetch(cluster, namespace, "client", address)
    assert cluster.node_ready("node1")
    assert cluster.kubectl("-n", namespace, "exec", "server", "--", "echo", "alive").strip() == "alive"
    cluster.node("node1").reconnect()
    assert fetch(cluster, namespace, "client", address) == "200"


@pytest.mark.alone
def test_objects_outlive_an_api_server_that_is_killed(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("-n", namespace, "create", "configmap", "kept", "--from-literal=a=b")
    cluster.apiserver.kill()
    assert not cluster.api.ready()
    cluster.apiserver.start()
    cluster.wait_ready()
    assert cluster.api.get(f"/api/v1/namespaces/{namespace}/configmaps/kept")["data"] == {"a": "b"}


@pytest.mark.alone
def test_a_frozen_scheduler_places_nothing_until_it_is_thawed(cluster: Cluster, namespace: str) -> None:
    cluster.scheduler.freeze()
    run_pod(cluster, namespace, "waiting")
    assert "nodeName" not in pod(cluster, namespace, "waiting")["spec"]
    cluster.scheduler.thaw()
    wait_until_ready(cluster, namespace, "waiting")


def test_the_pytorch_image_has_torch_with_gloo_for_an_unprivileged_user(cluster: Cluster, namespace: str) -> None:
    script = (
        "import torch.distributed as d, time; assert d.is_gloo_available(); print('gloo', flush=True); time.sleep(99)"
    )
    run_pod(cluster, namespace, "torch", image=PYTORCH_IMAGE, command=["python3", "-c", script])
    cluster.wait_for(
        "torch to be imported",
        lambda _: (
            pod(cluster, namespace, "torch")["status"].get("phase") == "Running"
            and "gloo" in cluster.kubectl("-n", namespace, "logs", "torch")
        ),
        timeout=60,
    )
