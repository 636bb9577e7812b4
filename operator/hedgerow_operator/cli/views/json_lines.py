"""One whole object a line at each change, for programs."""

import json
from collections.abc import Callable

from hedgerow_operator.api.training_job import TrainingJob, training_job_fields
from hedgerow_operator.core.plan import Event


class JSONLines:
    """Objects on standard output, sentences about the run itself on standard error."""

    def __init__(self, write: Callable[[str], None], complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._write = write
        self._last: dict[str, str] = {}

    def changed(self, job: TrainingJob) -> None:
        """See View. A job that nobody has looked at yet has no state to tell."""
        line = json.dumps(training_job_fields(job), separators=(",", ":")) + "\n"
        if job.status.state and self._last.get(job.metadata.uid) != line:
            self._last[job.metadata.uid] = line
            self._write(line)

    def moved(self, job: TrainingJob, phase: str) -> None:
        """See View. The lines are the objects as they are stored."""

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""

    def note(self, sentence: str) -> None:
        """See View."""
        self._complain(sentence)

    def tick(self) -> None:
        """See View."""

    def close(self) -> None:
        """See View."""
