"""What a step of the own batch job looks like to the decisions. Pure."""

from msgspec import Struct

from hedgerow_operator.adapters.slurm.steps.records import StepRecord
from hedgerow_operator.api.status import SlurmJobStatus
from hedgerow_operator.core.seen import (
    WORKER_FAILED,
    WORKER_PENDING,
    WORKER_RUNNING,
    WORKER_SUCCEEDED,
    PlacementSeen,
    WorkerSeen,
)


class StepSeen(Struct, frozen=True, kw_only=True):
    """runs: its srun, or a task of it. code: exit code of srun once it has ended; None: it has not been started yet.
    cause, why: of its end, as a reason of ``api.reasons`` and as a sentence, where the batch job is about to end.
    """

    record: StepRecord
    runs: bool
    code: int | None = None
    cause: str = ""
    why: str = ""


def step_placement(step: StepSeen, job_id: str, workers: int, now: float) -> PlacementSeen:
    """job_id: of the batch job. now: epoch seconds."""
    record = step.record
    phase = WORKER_RUNNING if step.runs else WORKER_PENDING if step.code is None else _over(step.code)
    age = max(0.0, now - record.created)
    return PlacementSeen(
        attempt=record.attempt,
        workers=tuple(_worker(step, index, phase, age) for index in range(workers)),
        removing=record.asked,
        ended=phase if phase in (WORKER_SUCCEEDED, WORKER_FAILED) else "",
        ended_reason=step.why or ("" if step.code is None else f"srun ended with exit code {step.code}"),
        cause=step.cause,
        age_seconds=age,
        waiting="the script has not come to its srun yet" if phase == WORKER_PENDING else "",
        slurm=SlurmJobStatus(job_id=job_id, placement=record.attempt, state="RUNNING"),
    )


def _worker(step: StepSeen, index: int, phase: str, age: float) -> WorkerSeen:
    node = step.record.nodes.get(index, "")
    return WorkerSeen(
        index=index,
        name=f"worker-{index}",
        phase=phase,
        node=node,
        terminating=step.record.asked,
        running_seconds=age if phase == WORKER_RUNNING else None,
        exit_code=step.code if phase == WORKER_FAILED else None,
        exit_reason="its srun ended" if phase == WORKER_FAILED else "",
    )


def _over(code: int) -> str:
    return WORKER_SUCCEEDED if code == 0 else WORKER_FAILED
