"""When a local run is over, and with which exit code. Pure."""

from collections.abc import Callable, Iterable, Iterator

from hedgerow_operator.api.conditions import FAILED, SUCCEEDED, SUSPENDED, find_condition, is_true
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob

ALL_SUCCEEDED = 0
NOT_ALL_SUCCEEDED = 1


def is_finished(job: TrainingJob) -> bool:
    """Whether the job has ended for good."""
    return is_true(job.status.conditions, SUCCEEDED) or is_true(job.status.conditions, FAILED)


def is_suspended(job: TrainingJob) -> bool:
    """Whether it was stopped in a state to go on from, by its spec or by a person."""
    return is_true(job.status.conditions, SUSPENDED)


def is_at_rest(job: TrainingJob) -> bool:
    """Whether nothing more will happen by itself: finished, or suspended as it was asked to be."""
    return is_finished(job) or (job.spec.suspend and is_suspended(job))


def exit_code(jobs: Iterable[TrainingJob]) -> int:
    """0 if every job succeeded, else 1."""
    succeeded = all(is_true(job.status.conditions, SUCCEEDED) for job in jobs)
    return ALL_SUCCEEDED if succeeded else NOT_ALL_SUCCEEDED


def name_of(job: TrainingJob) -> str:
    """``namespace/name``."""
    return f"{job.metadata.namespace}/{job.metadata.name}"


def verdict(job: TrainingJob, again: str, output: Callable[[TrainingJob], str]) -> str:
    """One sentence about how the job stands at the end of a run.

    again: the command that goes on. output: where the ranks' output of the last attempt lies.
    """
    name, status = name_of(job), job.status
    if is_true(status.conditions, SUCCEEDED):
        return f"{name} succeeded: {', '.join(_figures(status))}"
    failed = find_condition(status.conditions, FAILED)
    if failed is not None and failed.status == "True":
        return f"{name} failed ({failed.reason}); what its ranks printed is in {output(job)}"
    where = "before its first step" if status.step is None else f"at step {status.step}"
    if job.spec.suspend:
        return f"{name} is suspended {where}; write suspend: false in its spec to go on"
    return f"{name} is stopped {where}; {_next_start(job)}: {again}"


def output_to_read(job: TrainingJob) -> tuple[int, int]:
    """Placement and worker whose output tells most about the job's end: those of the first rank that is blamed.

    A job may fail after the next placement was made and before its ranks started; then nothing was printed there.
    """
    if not job.status.history:
        return job.status.placement, 0
    last = job.status.history[-1]
    return last.placement, last.ranks[0] // job.spec.ranks_per_worker if last.ranks else 0


def _figures(status: TrainingJobStatus) -> Iterator[str]:
    if status.step is not None:
        yield f"step {status.step} reached"
    yield "no restart" if not status.restarts else f"{status.restarts} restart{'s' if status.restarts > 1 else ''}"
    if status.lost_steps:
        yield f"{status.lost_steps} steps computed twice"
    if status.goodput_percent is not None:
        yield f"goodput {status.goodput_percent} %"


def _next_start(job: TrainingJob) -> str:
    checkpoint = job.status.checkpoint
    if job.spec.checkpoint is None:
        return "without a checkpoint directory it would begin at step 0; to run it again"
    if checkpoint is None:
        return "there is no whole checkpoint yet, so it would begin at step 0; to run it again"
    return f"it would resume from step {checkpoint.step} ({checkpoint.path}); to go on"
