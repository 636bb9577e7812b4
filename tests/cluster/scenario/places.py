"""A namespace where training may run as the restricted Pod Security Standard wants it: code, storage, room."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cluster.scenario.manifests import PYTORCH, QUICKSTART, as_text, example, volume
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
