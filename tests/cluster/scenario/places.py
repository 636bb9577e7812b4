"""A namespace where training may run as the restricted Pod Security Standard wants it: code, storage, room."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.scenario.manifests import PYTORCH, QUICKSTART, as_text, example, spread_over_nodes, volume
from tests.cluster.testbed.cluster import Cluster

CODE = {"quickstart": QUICKSTART, "pytorch-ddp": PYTORCH}


@contextmanager
def restricted_namespace(cluster: Cluster, example_name: str = "quickstart") -> Iterator[str]:
    """A namespace with the example's code in a ConfigMap and its claim bound to a folder that every node mounts."""
    with cluster.namespace("train") as namespace:
        prepare(cluster, namespace, example_name)
        try:
            yield namespace
        finally:
            cluster.kubectl("delete", "persistentvolume", f"{namespace}-{example_name}", "--wait=false")


def prepare(cluster: Cluster, namespace: str, example_name: str) -> None:
    """Fill an empty namespace."""
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    cluster.kubectl("patch", "namespace", namespace, "--type=merge", "-p", json.dumps(label))
    folder = cluster.site.work / "volumes" / namespace
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    claim = next(entry for entry in example(example_name) if entry["kind"] == "PersistentVolumeClaim")
    objects = as_text(volume(namespace, claim["metadata"]["name"], str(folder)), claim)
    cluster.kubectl("-n", namespace, "apply", "-f", "-", stdin=objects)
    cluster.kubectl("-n", namespace, "create", "configmap", example_name, f"--from-file={CODE[example_name]}")


def offer(cluster: Cluster, namespace: str = "default") -> Path:
    """A file for `kubectl apply` with all that the quickstart needs in this cluster: code, storage, and the job."""
    code = cluster.kubectl(
        "create", "configmap", "quickstart", f"--from-file={QUICKSTART}", "--dry-run=client", "-o", "json"
    )
    folder = cluster.site.work / "volumes" / namespace
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    objects = example("quickstart")
    for entry in objects:
        if entry["kind"] == "TrainingJob":
            spread_over_nodes(entry, "quickstart")
    path = cluster.site.work / "quickstart.json"
    path.write_text(as_text(json.loads(code), volume(namespace, "quickstart", str(folder)), *objects))
    return path
