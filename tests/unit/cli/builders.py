"""Jobs to show."""

from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.status import CheckpointStatus, Condition, RanksStatus, StepMillis, TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob

NOW = 1_700_000_200.0


def job(name: str = "run", suspend: bool = False, **status: object) -> TrainingJob:
    """A job with this status."""
    return TrainingJob(
        metadata=ObjectMeta(name=name, uid=f"uid-{name}", creation_timestamp="2023-11-14T22:13:20Z"),
        spec=TrainingJobSpec(workers=1, ranks_per_worker=4, suspend=suspend),
        status=TrainingJobStatus(**status),  # type: ignore[arg-type]
    )


def condition(kind: str, status: str = "True", reason: str = "Because", message: str = "it is so") -> Condition:
    """A condition; its observedGeneration and its time do not matter here."""
    return Condition(type=kind, status=status, reason=reason, message=message)  # type: ignore[arg-type]


TRAINING = job(
    state="Running",
    reason="Training",
    step=37,
    ranks=RanksStatus(expected=4, reporting=4, summary="4/4"),
    restarts=1,
    checkpoint=CheckpointStatus(step=30, path="/c", time="", verified=True),
    goodput_percent=91,
    step_millis=StepMillis(median=350, p99=800),
    conditions=(condition("Running"), condition("Stalled", "False", "Healthy")),
    attempt=2,
)
