"""What the runtime needs on a cluster's shared file system, and what is submitted there."""

from typing import Protocol

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.slurm.seen import Submission


class Submissions(Protocol):
    """By `hedgerow local` the state directory is on that file system; an operator may be far from it."""

    async def prepare(self, job: TrainingJob, attempt: int, excluded: tuple[str, ...]) -> Submission:
        """Everything lies where it has to. Raises Refused, Unreachable."""

    async def note_cancelled(self, job: TrainingJob, attempt: int, number: str) -> None:
        """We are about to cancel the batch job of this number. Raises Unreachable, Conflict."""

    def was_cancelled(self, job: TrainingJob, attempt: int, number: str) -> bool:
        """Whether we did."""

    def runs(self, job: TrainingJob, first: int) -> tuple[int, ...]:
        """The attempt that each run of the batch job that began as ``first`` begins with; none: it has but one run.
        Raises Unreachable.
        """

    async def add_run(self, job: TrainingJob, first: int, number: int, attempt: int) -> None:
        """Its run ``number`` (from 0) is this attempt. Raises Unreachable, Conflict."""

    def comment(self, job: TrainingJob, first: int, number: int, attempt: int) -> str:
        """The comment of the batch job from which that run learns so; "": it learns so elsewhere."""
