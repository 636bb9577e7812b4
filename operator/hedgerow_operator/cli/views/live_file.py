"""How the jobs stand now, in a file for those who look from outside (hedgerow ps, hedgerow attach)."""

import contextlib
from collections.abc import Callable

from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.session_file import Live, forget_live, write_live
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.silent import Silent

_WRITE_SECONDS = 1.0


class LiveFile(Silent):
    """Written at most once a second, and not when nothing changed. clock: monotonic."""

    def __init__(self, paths: StatePaths, clock: Callable[[], float]) -> None:
        self._paths = paths
        self._clock = clock
        self._jobs: dict[str, Live] = {}
        self._written: tuple[Live, ...] = ()
        self._written_at = float("-inf")

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        uid = job.metadata.uid
        self._jobs[uid] = Live(job, self._jobs[uid].phase if uid in self._jobs else "")

    def moved(self, job: TrainingJob, phase: str) -> None:
        """See View."""
        self._jobs[job.metadata.uid] = Live(job, phase)

    def tick(self) -> None:
        """See View."""
        now, jobs = self._clock(), tuple(self._jobs.values())
        if now - self._written_at < _WRITE_SECONDS or (jobs == self._written and self._paths.live.exists()):
            return
        with contextlib.suppress(OSError):  # a look from outside is not worth a word
            write_live(self._paths, jobs)
            self._written, self._written_at = jobs, now

    def close(self) -> None:
        """See View."""
        forget_live(self._paths)
