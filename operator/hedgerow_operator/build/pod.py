"""The pod template of a placement: the user's, with the launcher in it and the excluded nodes out of reach."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.api.labels import placement_labels
from hedgerow_operator.api.pod_template import read_template, wrapped_name
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.environment import launcher_environment
from hedgerow_operator.build.exclusion import avoid_nodes
from hedgerow_operator.build.injection import Injection, init_container, volumes, wrap

# The launcher gives its ranks graceSeconds and then needs a moment to kill, report and leave.
LAUNCHER_SECONDS = 10


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
    template = job.spec.kubernetes.template
    spec: dict[str, Any] = template["spec"]
    wrapped = wrapped_name(read_template(template))
    environment = launcher_environment(job, placement, injection)
    built = {
        **spec,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": _grace_period(job, spec),
        "initContainers": [init_container(injection), *(spec.get("initContainers") or [])],
        "containers": [
            wrap(container, environment) if container["name"] == wrapped else container
            for container in spec["containers"]
        ],
        "volumes": [*(spec.get("volumes") or []), *volumes()],
    }
    affinity = avoid_nodes(spec.get("affinity"), excluded_nodes)
    return built if affinity is None else {**built, "affinity": affinity}


def _grace_period(job: TrainingJob, spec: dict[str, Any]) -> int:
    needed = job.spec.recovery.grace_seconds + LAUNCHER_SECONDS
    return max(needed, spec.get("terminationGracePeriodSeconds") or 0)
