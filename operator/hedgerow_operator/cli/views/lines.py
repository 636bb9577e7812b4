"""A line for each event and each change of a condition, for logs and pipes."""

from collections.abc import Callable

from hedgerow_operator.api.status import Condition
from hedgerow_operator.api.times import format_time
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.plan import Event

# A condition that was never true is nothing to tell.
_UNREMARKABLE = "False"


class Lines:
    """Timestamped lines."""

    def __init__(self, clock: Callable[[], float], write: Callable[[str], None]) -> None:
        self._clock = clock
        self._write = write
        self._conditions: dict[str, dict[str, tuple[str, str]]] = {}

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        name = f"{job.metadata.namespace}/{job.metadata.name}"
        before = self._conditions.get(name, {})
        now: dict[str, tuple[str, str]] = {
            condition.type: (condition.status, condition.reason if condition.status != _UNREMARKABLE else "")
            for condition in job.status.conditions
        }
        self._conditions[name] = now
        for condition in job.status.conditions:
            if before.get(condition.type, (_UNREMARKABLE, "")) != now[condition.type]:
                self._line(name, condition_text(condition))

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""
        self._line(f"{job.metadata.namespace}/{job.metadata.name}", f"{event.reason}: {event.message}")

    def note(self, sentence: str) -> None:
        """See View."""
        self._line("hedgerow", sentence)

    def tick(self) -> None:
        """See View."""

    def close(self) -> None:
        """See View."""

    def _line(self, subject: str, text: str) -> None:
        self._write(f"{format_time(self._clock())} {subject} {text}\n")


def condition_text(condition: Condition) -> str:
    """``Stalled=True NoProgress: rank 2 …``."""
    message = f": {condition.message}" if condition.message else ""
    return f"{condition.type}={condition.status} {condition.reason}{message}"
