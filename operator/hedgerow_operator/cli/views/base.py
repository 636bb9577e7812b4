"""What a local run tells whoever shows it."""

from typing import Protocol

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.plan import Event


class View(Protocol):
    """Shows a run. Every method returns at once."""

    def changed(self, job: TrainingJob) -> None:
        """The job was stored like this."""

    def moved(self, job: TrainingJob, phase: str) -> None:
        """The job as the newest reports show it, whether it was stored like this or not, and what its ranks do now."""

    def happened(self, job: TrainingJob, event: Event) -> None:
        """Something that people should know."""

    def note(self, sentence: str) -> None:
        """Something about the run itself."""

    def tick(self) -> None:
        """A moment has passed; called a few times a second."""

    def close(self) -> None:
        """The run is over; nothing more will be shown."""
