"""The variables that an srun is started with: whose launchers it starts, and what they are to do. Pure."""

from collections.abc import Mapping
from pathlib import Path

from hedgerow import environment
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.reconcile.ports import JobKey


def token_file(paths: StatePaths) -> Path:
    """Where the launchers of a batch job find their token."""
    return paths.root / "token"


def step_variables(key: JobKey, uid: str, attempt: int, spec: TrainingJobSpec, paths: StatePaths) -> Mapping[str, str]:
    """Which worker a launcher is, and of how many, it knows from Slurm."""
    variables = {
        environment.JOB_UID: uid,
        environment.JOB_NAMESPACE: key.namespace,
        environment.JOB_NAME: key.name,
        environment.PLACEMENT: str(attempt),
        environment.ADDRESS_FILE: str(paths.address),
        environment.TOKEN_FILE: str(token_file(paths)),
        environment.QUIET: "1",  # the output of the script is the user's
        environment.HEARTBEAT_SOURCE: spec.heartbeat.source,
        environment.FENCE_SECONDS: str(spec.recovery.fence_seconds),
        environment.GRACE_SECONDS: str(spec.recovery.grace_seconds),
    }
    if spec.heartbeat.log_pattern is not None:
        variables[environment.LOG_PATTERN] = spec.heartbeat.log_pattern
    if spec.checkpoint is not None:
        variables[environment.CHECKPOINT_DIRECTORY] = spec.checkpoint.directory
        variables[environment.CHECKPOINT_VERIFY] = spec.checkpoint.verify
        variables[environment.CHECKPOINT_ON_INVALID] = spec.checkpoint.on_invalid
    return variables
