"""A row of the table at each change of a job, as `kubectl get --watch` prints them, for pipes."""

from collections.abc import Callable

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.columns import WIDE_HEADER, padded, row
from hedgerow_operator.core.plan import Event

# Room for the words that are usual, so that rows printed minutes apart stand below each other.
_WIDTHS = (9, 12, 10, 17, 7, 8, 8, 10, 7, 6, 7, 0)
# Change at every look.
_PASSING = (WIDE_HEADER.index("GOODPUT"), WIDE_HEADER.index("AGE"))


class Rows:
    """Rows on standard output, sentences about the run itself on standard error."""

    def __init__(
        self, clock: Callable[[], float], write: Callable[[str], None], complain: Callable[[str], None]
    ) -> None:
        self._complain = complain
        self._clock = clock
        self._write = write
        self._last: dict[str, tuple[str, ...]] = {}

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        cells = row(job, wide=True, now=self._clock())
        known = tuple(cell for index, cell in enumerate(cells) if index not in _PASSING)
        if not job.status.state or self._last.get(job.metadata.uid) == known:
            return
        if not self._last:
            self._write(padded(WIDE_HEADER, _WIDTHS) + "\n")
        self._last[job.metadata.uid] = known
        self._write(padded(cells, _WIDTHS) + "\n")

    def moved(self, job: TrainingJob, phase: str) -> None:
        """See View."""

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""

    def note(self, sentence: str) -> None:
        """See View."""
        self._complain(sentence)

    def tick(self) -> None:
        """See View."""

    def close(self) -> None:
        """See View."""
