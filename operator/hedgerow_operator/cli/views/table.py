"""A live table on a terminal: events scroll by above it, the table is rewritten in place below them."""

import shutil
from collections.abc import Callable

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.lines import Lines
from hedgerow_operator.cli.views.live_columns import live_table
from hedgerow_operator.core.plan import Event

_UP = "\x1b[{}A"
_CLEAR_BELOW = "\x1b[J"
_CLEAR_LINE_END = "\x1b[K"


class Table:
    """Each drawing is one write, over the old one and not after clearing it, so that nothing flickers."""

    def __init__(self, clock: Callable[[], float], write: Callable[[str], None], wide: bool) -> None:
        self._clock = clock
        self._write = write
        self._wide = wide
        self._jobs: dict[str, tuple[TrainingJob, str]] = {}
        self._drawn = 0
        self._drawn_at = 0.0
        self._pending = ""
        self._lines = Lines(clock, self.scroll)

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        self._take(job, self._jobs.get(job.metadata.uid, (job, ""))[1])
        self._draw()

    def moved(self, job: TrainingJob, phase: str) -> None:
        """See View."""
        if self._jobs.get(job.metadata.uid) != (job, phase):
            self._take(job, phase)
            self._draw()

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""
        self._lines.happened(job, event)
        self._draw()

    def note(self, sentence: str) -> None:
        """See View."""
        self._lines.note(sentence)
        self._draw()

    def tick(self) -> None:
        """See View. Only ages can have changed."""
        if self._clock() - self._drawn_at >= 1.0:
            self._draw()

    def close(self) -> None:
        """See View."""
        self._draw()

    def _take(self, job: TrainingJob, phase: str) -> None:
        alive = job.status.ranks is not None and job.status.ranks.reporting > 0
        self._jobs[job.metadata.uid] = job, phase if alive else ""

    def scroll(self, text: str) -> None:
        """Show these lines above the table, from the next drawing on."""
        self._pending += text

    def _draw(self) -> None:
        width = shutil.get_terminal_size().columns
        rows = live_table(self._jobs.values(), self._wide, self._clock(), width) if self._jobs else []
        # A terminal echoes ^C where the cursor stands, which leaves it in the middle of a line.
        up = "\r" + _UP.format(self._drawn) if self._drawn else ""
        above = "".join(f"{line}{_CLEAR_LINE_END}\n" for line in self._pending.splitlines())
        below = "".join(f"{row[: width - 1]}{_CLEAR_LINE_END}\n" for row in rows)
        self._write(up + above + below + _CLEAR_BELOW)
        self._pending, self._drawn, self._drawn_at = "", len(rows), self._clock()
