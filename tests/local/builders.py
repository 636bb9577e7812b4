"""Jobs for the tests of the local runtime."""

import sys
from pathlib import Path
from typing import Any

import msgspec

from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.spec import LocalSpec, TrainingJobSpec
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob


def local_job(folder: Path, name: str = "run", workers: int = 1, ranks: int = 1, **spec: Any) -> TrainingJob:
    """A job whose ranks sleep."""
    command = (sys.executable, "-c", "import time; time.sleep(3600)")
    local = LocalSpec(command=command, working_dir=str(folder))
    return TrainingJob(
        metadata=ObjectMeta(name=name),
        spec=TrainingJobSpec(workers=workers, ranks_per_worker=ranks, local=local, **spec),
    )


def with_status(job: TrainingJob, **fields: Any) -> TrainingJob:
    """The job with these fields of its status changed."""
    return msgspec.structs.replace(job, status=msgspec.structs.replace(job.status, **fields))


def status(**fields: Any) -> TrainingJobStatus:
    """A status with these fields."""
    return TrainingJobStatus(**fields)
