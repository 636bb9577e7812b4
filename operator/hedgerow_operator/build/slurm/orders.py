"""The environment of the launchers of a batch job."""

from __future__ import annotations

from hedgerow import environment
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.slurm.places import Places


def orders(job: TrainingJob, placement: int, places: Places) -> dict[str, str]:
    """What is the same on every node. Which worker one is, on which node, the launcher learns from Slurm."""
    spec, metadata = job.spec, job.metadata
    variables = {
        environment.JOB_UID: metadata.uid,
        environment.JOB_NAMESPACE: metadata.namespace,
        environment.JOB_NAME: metadata.name,
        environment.WORKERS: str(spec.workers),
        environment.NPROC: str(spec.ranks_per_worker),
        environment.MASTER_PORT: str(spec.master_port),
        environment.TOKEN_FILE: places.token_file,
        environment.HEARTBEAT_SOURCE: spec.heartbeat.source,
        environment.FENCE_SECONDS: str(spec.recovery.fence_seconds),
        environment.GRACE_SECONDS: str(spec.grace_seconds),
    }
    optional = {
        environment.PLACEMENT: "" if places.runs else str(placement),
        environment.REPORT_URL: places.report_url,
        environment.ADDRESS_FILE: places.address_file,
        environment.PROCESSES: spec.processes,
        environment.LOG_PATTERN: spec.heartbeat.log_pattern,
    }
    if spec.checkpoint is not None:
        optional |= {
            environment.CHECKPOINT_DIRECTORY: spec.checkpoint.directory,
            environment.CHECKPOINT_VERIFY: spec.checkpoint.verify,
            environment.CHECKPOINT_ON_INVALID: spec.checkpoint.on_invalid,
        }
    return variables | {name: value for name, value in optional.items() if value}
