"""The Indexed Job of one placement."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.api.labels import (
    ANNOTATION_AVOIDED_NODES,
    API_VERSION,
    TRAINING_JOB_KIND,
    placement_labels,
    placement_name,
)
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.injection import Injection
from hedgerow_operator.build.pod import pod_template


def placement_job(
    job: TrainingJob, placement: int, excluded_nodes: tuple[str, ...], injection: Injection
) -> dict[str, Any]:
    """The ``batch/v1`` Job that carries the attempts from ``placement`` on; deterministic.

    No worker is ever replaced in it: one failed pod is over the backoff limit, and without an Ignore rule every
    failure counts. ttlSecondsAfterFinished stays unset: the operator reads how it ended before it removes it.
    """
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": placement_name(job.metadata.name, placement),
            "namespace": job.metadata.namespace,
            "labels": placement_labels(job.metadata.name, job.metadata.uid, placement),
            "ownerReferences": [owner_reference(job)],
            **_avoided(excluded_nodes),
        },
        "spec": {
            "completionMode": "Indexed",
            "completions": job.spec.workers,
            "parallelism": job.spec.workers,
            "backoffLimit": 0,
            "podFailurePolicy": _fail_on_any_failure(),
            "podReplacementPolicy": "Failed",
            "suspend": False,
            "template": pod_template(job, placement, excluded_nodes, injection),
        },
    }


def owner_reference(job: TrainingJob) -> dict[str, Any]:
    """The reference that makes the garbage collector remove the placement with its job."""
    return {
        "apiVersion": API_VERSION,
        "kind": TRAINING_JOB_KIND,
        "name": job.metadata.name,
        "uid": job.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _avoided(nodes: tuple[str, ...]) -> dict[str, Any]:
    """Besides the affinity, which the user may have filled too: one that waits is made anew once one is free."""
    return {"annotations": {ANNOTATION_AVOIDED_NODES: ",".join(sorted(nodes))}} if nodes else {}


def _fail_on_any_failure() -> dict[str, Any]:
    """Fails the whole Job at the first pod that is disrupted or fails."""
    return {
        "rules": [
            {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}},
        ]
    }
