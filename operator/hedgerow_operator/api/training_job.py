"""The TrainingJob object: read from and written as plain dicts."""

from __future__ import annotations

from typing import Any

import msgspec

from hedgerow_operator.api.labels import API_VERSION, TRAINING_JOB_KIND
from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.model import Model, to_builtins
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.status import TrainingJobStatus


class TrainingJob(Model, frozen=True, kw_only=True):
    """One distributed training job."""

    api_version: str = API_VERSION
    kind: str = TRAINING_JOB_KIND
    metadata: ObjectMeta
    spec: TrainingJobSpec
    status: TrainingJobStatus = TrainingJobStatus()


def training_job(fields: dict[str, Any]) -> TrainingJob:
    """The TrainingJob in a plain dict, such as the API server gives; ValueError names the field that is wrong."""
    try:
        return msgspec.convert(fields, TrainingJob)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def training_job_fields(job: TrainingJob) -> dict[str, Any]:
    """The plain dict of a job, with the names of the API; what is None is left out."""
    fields: dict[str, Any] = to_builtins(job)
    return fields
