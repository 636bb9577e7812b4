"""Jobs with spec.slurm that the tests of this folder share."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.build.slurm.places import Places

UID = "8e6e7a9c-0000-4000-8000-000000000001"
PLACES = Places(
    directory="/shared/hedgerow/placement-1",
    archive="/shared/hedgerow/hedgerow.pyz",
    token_file="/shared/hedgerow/token",
    address_file="/shared/hedgerow/address",
    logs=True,
)
OWN_SRUN = """#!/bin/bash -l
#SBATCH --nodes=4
#SBATCH --account=ml --mem=100G
module load cuda
srun --cpu-bind=cores python train.py
"""


def slurm_job(spec: dict[str, Any] | None = None, **slurm: Any) -> TrainingJob:
    """A job of two nodes with four ranks each."""
    fields = {"workers": 2, "ranksPerWorker": 4, **(spec or {}), "slurm": {"script": "python train.py", **slurm}}
    return training_job({"metadata": {"name": "llama", "namespace": "team-a", "uid": UID}, "spec": fields})
