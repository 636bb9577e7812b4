"""When a local run is over, and with which exit code. Pure."""

from collections.abc import Iterable

from hedgerow_operator.api.conditions import FAILED, SUCCEEDED, SUSPENDED, find_condition, is_true
from hedgerow_operator.api.training_job import TrainingJob

ALL_SUCCEEDED = 0
NOT_ALL_SUCCEEDED = 1


def is_finished(job: TrainingJob) -> bool:
    """Whether the job has ended for good."""
    return is_true(job.status.conditions, SUCCEEDED) or is_true(job.status.conditions, FAILED)


def is_at_rest(job: TrainingJob) -> bool:
    """Whether nothing more will happen by itself: finished, or suspended as it was asked to be."""
    return is_finished(job) or (job.spec.suspend and is_true(job.status.conditions, SUSPENDED))


def exit_code(jobs: Iterable[TrainingJob]) -> int:
    """0 if every job succeeded, else 1."""
    succeeded = all(is_true(job.status.conditions, SUCCEEDED) for job in jobs)
    return ALL_SUCCEEDED if succeeded else NOT_ALL_SUCCEEDED


def verdict(job: TrainingJob) -> str:
    """One sentence about how the job stands at the end of a run."""
    name = f"{job.metadata.namespace}/{job.metadata.name}"
    for kind in (SUCCEEDED, FAILED):
        condition = find_condition(job.status.conditions, kind)
        if condition is not None and condition.status == "True":
            return f"{name} {kind.lower()} ({condition.reason}): {condition.message}"
    if is_true(job.status.conditions, SUSPENDED):
        return f"{name} is suspended at step {job.status.step}; the same command goes on from its last valid checkpoint"
    return f"{name} is not finished ({job.status.reason or 'unknown'})"
