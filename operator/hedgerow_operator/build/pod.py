"""The pod template of a placement: the user's, with the launcher in it and the excluded nodes out of reach."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.api.labels import placement_labels
from hedgerow_operator.api.pod_template import read_pods
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.environment import launcher_environment
from hedgerow_operator.build.exclusion import avoid_nodes
from hedgerow_operator.build.injection import Injection, init_container, volumes, wrap

# The launcher gives its ranks their grace and then needs a moment to kill, report and leave.
LAUNCHER_SECONDS = 10
DEFAULT_GRACE_SECONDS = 30  # terminationGracePeriodSeconds, Kubernetes API, PodSpec


def pod_template(
    job: TrainingJob, placement: int, excluded_nodes: tuple[str, ...], injection: Injection
) -> dict[str, Any]:
    """The PodTemplateSpec; ``job`` must have ``spec.kubernetes``. What the user wrote is kept as it is."""
    assert job.spec.kubernetes is not None
    template = job.spec.kubernetes.template
    metadata = template.get("metadata") or {}
    labels = placement_labels(job.metadata.name, job.metadata.uid, placement)
    return {
        **template,
        "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **labels}},
        "spec": _pod_spec(job, placement, excluded_nodes, injection),
    }


def _pod_spec(
    job: TrainingJob, placement: int, excluded_nodes: tuple[str, ...], injection: Injection
) -> dict[str, Any]:
    assert job.spec.kubernetes is not None
    spec: dict[str, Any] = job.spec.kubernetes.template["spec"]
    wrapped = read_pods(job.spec.kubernetes).wrapped_name
    environment = launcher_environment(job, placement, injection)
    built = {
        **spec,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": _grace_period(job, spec, wrapped),
        "initContainers": [init_container(injection), *(spec.get("initContainers") or [])],
        "containers": [
            wrap(container, environment) if container["name"] == wrapped else container
            for container in spec["containers"]
        ],
        "volumes": [*(spec.get("volumes") or []), *volumes()],
    }
    if spec.get("hostNetwork") and not spec.get("dnsPolicy"):
        # Otherwise Kubernetes takes the node's own resolver, which does not know the report server's name.
        built["dnsPolicy"] = "ClusterFirstWithHostNet"
    affinity = avoid_nodes(spec.get("affinity"), excluded_nodes)
    return built if affinity is None else {**built, "affinity": affinity}


def _grace_period(job: TrainingJob, spec: dict[str, Any], wrapped: str) -> int:
    """What the ranks are given, what the launcher needs, and before both the time of a preStop hook, which counts."""
    container = next(entry for entry in spec["containers"] if entry["name"] == wrapped)
    hook = (container.get("lifecycle") or {}).get("preStop")
    of_hook = (spec.get("terminationGracePeriodSeconds") or DEFAULT_GRACE_SECONDS) if hook else 0
    return job.spec.grace_seconds + LAUNCHER_SECONDS + of_hook
