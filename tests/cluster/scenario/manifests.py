"""The examples' manifests, as they are on this cluster: its images, its storage, and figures for short tests."""

import json
from collections.abc import Mapping
from typing import Any

from hedgerow_operator.api.yaml_text import read_documents
from tests.cluster.testbed.images import PYTHON_IMAGE, PYTORCH_IMAGE
from tests.cluster.testbed.paths import REPOSITORY

Fields = dict[str, Any]

QUICKSTART = REPOSITORY / "examples" / "quickstart"
PYTORCH = REPOSITORY / "examples" / "pytorch-ddp"
# Many processes share few cores here: a rank that waits for its turn must not look stuck.
STALL_SECONDS = 6
TORCH_STALL_SECONDS = 10  # importing torch takes both cores for seconds
NO_FAULTS = {"HANG_RANK": "-1", "TORN_STEP": "-1"}


def example(folder_name: str) -> list[Fields]:
    """The objects of an example's manifest for Kubernetes, images apart as they are written there."""
    text = (REPOSITORY / "examples" / folder_name / "trainingjob-kubernetes.yaml").read_text()
    objects = [document.fields for document in read_documents(text)]
    for entry in objects:
        if entry["kind"] == "TrainingJob":
            container = wrapped_container(entry)
            container["image"] = PYTORCH_IMAGE if "torch" in container["image"] else PYTHON_IMAGE
            container["imagePullPolicy"] = "Never"
    return objects


def wrapped_container(job: Fields) -> Fields:
    """The container of a TrainingJob that runs the ranks."""
    container: Fields = job["spec"]["kubernetes"]["template"]["spec"]["containers"][0]
    return container


def quickstart(name: str, *, spec: Fields | None = None, env: Mapping[str, str] | None = None) -> Fields:
    """The quickstart's TrainingJob under another name, with a checkpoint folder of its own.

    Its workers keep to different nodes. `spec` is merged into its spec; `env` is added to the ranks' environment.
    """
    job = next(entry for entry in example("quickstart") if entry["kind"] == "TrainingJob")
    job["metadata"]["name"] = name
    checkpoints = f"/checkpoints/{name}"
    add_environment(job, {"CHECKPOINT_DIRECTORY": checkpoints, **(env or {})})
    spread_over_nodes(job, name)
    merge(job["spec"], {"checkpoint": {"directory": checkpoints}, "health": {"stall": {"minSeconds": STALL_SECONDS}}})
    merge(job["spec"], spec or {})
    return job


def add_environment(job: Fields, variables: Mapping[str, str]) -> None:
    """Set environment variables of the ranks."""
    container = wrapped_container(job)
    kept = [entry for entry in container.get("env", []) if entry["name"] not in variables]
    container["env"] = kept + [{"name": name, "value": value} for name, value in variables.items()]


def spread_over_nodes(job: Fields, name: str) -> None:
    """No two workers on one node."""
    template = job["spec"]["kubernetes"]["template"]
    template.setdefault("metadata", {}).setdefault("labels", {})["gang"] = name
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"gang": name}}}
    affinity = template["spec"].setdefault("affinity", {})
    affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def prefer_nodes(job: Fields, *nodes: str) -> None:
    """Spread over these nodes as long as they take pods, in place of a strict spread over all."""
    template = job["spec"]["kubernetes"]["template"]
    (strict,) = template["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    among = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}
    template["spec"]["affinity"] = {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": strict}]
        },
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "preference": {"matchExpressions": [among]}}
            ]
        },
    }


def in_pods(job: Fields, change: Fields) -> Fields:
    """The job with this merged into its pods' spec."""
    merge(job["spec"]["kubernetes"]["template"]["spec"], change)
    return job


def all_on(node: str, job: Fields) -> Fields:
    """The job with every worker on this node."""
    return in_pods(job, {"nodeSelector": {"kubernetes.io/hostname": node}, "affinity": None})


def merge(target: Fields, change: Mapping[str, Any]) -> None:
    """Merge `change` into `target`, field by field; a None removes."""
    for name, value in change.items():
        if value is None:
            target.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(target.get(name), dict):
            merge(target[name], value)
        else:
            target[name] = value


def volume(namespace: str, claim: str, folder: str) -> Fields:
    """A volume that every node can mount (they share this machine's disk), for one claim."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{claim}"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"namespace": namespace, "name": claim},
            "hostPath": {"path": folder},
        },
    }


def as_text(*objects: Fields) -> str:
    """The objects as one List, for kubectl."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
