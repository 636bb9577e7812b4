"""The few lines that a supervisor adds to the output of a batch job."""

from collections.abc import Callable

from hedgerow_operator.api import reasons
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.silent import Silent
from hedgerow_operator.core.plan import Event


class FewLines(Silent):
    """What went wrong, and what became of it."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""
        again = event.reason in (reasons.ATTEMPT_STARTED, reasons.ALL_RANKS_FINISHED) and job.status.restarts > 0
        # Until a step is told, a step that fails is the script's own affair.
        own_affair = event.reason == reasons.MAX_RESTARTS_EXCEEDED and job.spec.recovery.max_restarts == 0
        if (event.warning and not own_affair) or again:
            self._say(f"{job.metadata.name}: {event.message}")

    def note(self, sentence: str) -> None:
        """See View."""
        self._say(sentence)
