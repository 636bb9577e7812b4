"""The environment of the launcher in a pod."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.api.labels import LABEL_WORKER_INDEX
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.injection import AGENT_DIRECTORY, TOKEN_FILE, Injection

REPORT_URL = "HEDGEROW_REPORT_URL"


def launcher_environment(job: TrainingJob, placement: int, injection: Injection) -> list[dict[str, Any]]:
    """Environment variables as a container's ``env``; those that differ from pod to pod come by the downward API."""
    return [*_from_pod(), *({"name": name, "value": value} for name, value in _fixed(job, placement, injection))]


def _from_pod() -> list[dict[str, Any]]:
    paths = {
        "HEDGEROW_WORKER": f"metadata.annotations['{LABEL_WORKER_INDEX}']",
        "HEDGEROW_NODE": "spec.nodeName",
        "HEDGEROW_ADDRESS": "status.podIP",
    }
    return [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in paths.items()]


def _fixed(job: TrainingJob, placement: int, injection: Injection) -> list[tuple[str, str]]:
    spec = job.spec
    variables = [
        ("HEDGEROW_JOB_UID", job.metadata.uid),
        ("HEDGEROW_JOB_NAMESPACE", job.metadata.namespace),
        ("HEDGEROW_JOB_NAME", job.metadata.name),
        ("HEDGEROW_PLACEMENT", str(placement)),
        ("HEDGEROW_WORKERS", str(spec.workers)),
        ("HEDGEROW_NPROC", str(spec.ranks_per_worker)),
        ("HEDGEROW_MASTER_PORT", str(spec.master_port)),
        (REPORT_URL, injection.report_url),
        ("HEDGEROW_TOKEN_FILE", TOKEN_FILE),
        ("HEDGEROW_TMP", AGENT_DIRECTORY),
        ("HEDGEROW_HEARTBEAT_SOURCE", spec.heartbeat.source),
        ("HEDGEROW_FENCE_SECONDS", str(spec.recovery.fence_seconds)),
        ("HEDGEROW_GRACE_SECONDS", str(spec.grace_seconds)),
    ]
    if spec.processes is not None:
        variables.append(("HEDGEROW_PROCESSES", spec.processes))
    if spec.heartbeat.log_pattern is not None:
        # Kubernetes would take a $ for the beginning of a reference to another variable.
        variables.append(("HEDGEROW_LOG_PATTERN", spec.heartbeat.log_pattern.replace("$", "$$")))
    if spec.checkpoint is not None:
        variables.append(("HEDGEROW_CHECKPOINT_DIRECTORY", spec.checkpoint.directory))
        variables.append(("HEDGEROW_CHECKPOINT_VERIFY", spec.checkpoint.verify))
        variables.append(("HEDGEROW_CHECKPOINT_ON_INVALID", spec.checkpoint.on_invalid))
    return variables
