"""A view that shows nothing: for those that care for a part of what happens."""

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.plan import Event


class Silent:
    """See View."""

    def changed(self, job: TrainingJob) -> None:
        """See View."""

    def moved(self, job: TrainingJob, phase: str) -> None:
        """See View."""

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""

    def note(self, sentence: str) -> None:
        """See View."""

    def tick(self) -> None:
        """See View."""

    def close(self) -> None:
        """See View."""
