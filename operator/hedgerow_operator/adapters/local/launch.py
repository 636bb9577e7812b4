"""How a launcher is started: its environment and its command line. Pure."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from hedgerow import environment
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.spec import LocalSpec
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.reconcile.ports import JobKey

LOOPBACK = "127.0.0.1"
SHELL = "/bin/sh"

# The launcher's exit code must outlive the controller. The trap keeps the shell alive until the launcher has ended;
# a caught signal is reset for the launcher by exec.
_SCRIPT = """
cd -- "$1" || exit 126
shift
trap : TERM INT HUP
"$@"
code=$?
echo $code > "$0.part" && mv "$0.part" "$0"
exit $code
"""


def command_line(local: LocalSpec, archive: Path, exit_code: Path) -> list[str]:
    """Arguments of the process to start. The launcher's own Python reads no PYTHON* variables: those are the ranks'."""
    launcher = [sys.executable, "-E", str(archive), "run", "--", *local.command]
    return [SHELL, "-c", _SCRIPT, str(exit_code), local.working_dir, *launcher]


def launcher_environment(
    job: TrainingJob, attempt: int, worker: int, paths: StatePaths, inherited: Mapping[str, str]
) -> dict[str, str]:
    """Variables of the launcher of one worker: the controller's, the user's, and its orders."""
    assert job.spec.local is not None
    key = JobKey(job.metadata.namespace, job.metadata.name)
    variables = {name: value for name, value in inherited.items() if not name.startswith("HEDGEROW_")}
    variables.update({variable.name: variable.value for variable in job.spec.local.env})
    variables.update(_orders(job, attempt, worker))
    variables[environment.ADDRESS_FILE] = str(paths.address)
    variables[environment.TOKEN_FILE] = str(paths.token(key))
    return variables


def checkpoint_directory(job: TrainingJob) -> str | None:
    """The absolute checkpoint directory; a relative one counts from workingDir."""
    if job.spec.checkpoint is None or job.spec.local is None:
        return None
    return os.path.join(job.spec.local.working_dir, job.spec.checkpoint.directory)


def _orders(job: TrainingJob, attempt: int, worker: int) -> dict[str, str]:
    spec, metadata = job.spec, job.metadata
    orders = {
        environment.JOB_UID: metadata.uid,
        environment.JOB_NAMESPACE: metadata.namespace,
        environment.JOB_NAME: metadata.name,
        environment.PLACEMENT: str(attempt),
        environment.WORKER: str(worker),
        environment.WORKERS: str(spec.workers),
        environment.NPROC: str(spec.ranks_per_worker),
        environment.MASTER_PORT: str(spec.master_port),
        environment.ADDRESS: LOOPBACK,
        environment.HEARTBEAT_SOURCE: spec.heartbeat.source,
        environment.FENCE_SECONDS: "0",  # processes of this machine can always be seen: never fenced by time
        environment.GRACE_SECONDS: str(spec.recovery.grace_seconds),
    }
    if spec.processes is not None:
        orders[environment.PROCESSES] = spec.processes
    if spec.heartbeat.log_pattern is not None:
        orders[environment.LOG_PATTERN] = spec.heartbeat.log_pattern
    directory = checkpoint_directory(job)
    if spec.checkpoint is not None and directory is not None:
        orders[environment.CHECKPOINT_DIRECTORY] = directory
        orders[environment.CHECKPOINT_VERIFY] = spec.checkpoint.verify
        orders[environment.CHECKPOINT_ON_INVALID] = spec.checkpoint.on_invalid
    return orders
