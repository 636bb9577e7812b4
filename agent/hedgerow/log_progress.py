"""Folds what a rank's lines say into its progress and its values."""

from __future__ import annotations

from typing import Dict, Iterable, NamedTuple, Optional

from hedgerow.bursts import Bursts
from hedgerow.environment import SOURCE_LOG
from hedgerow.logs.observation import Observation
from hedgerow.progress import Progress
from hedgerow.record import Boundary, Reading
from hedgerow.wire import PHASE_STEP

# More digits are an identifier or a broken line.
_STEP_LIMIT = 2**53


class Seen(NamedTuple):
    """An observation, and when its line arrived (CLOCK_MONOTONIC nanoseconds): a log's own clock counts for nothing."""

    time_ns: int
    said: Observation


class LogProgress:
    """The progress of one rank in one attempt, by its output."""

    def __init__(self, started_ns: int) -> None:
        self.progress = Progress(started_ns)
        self.values: Dict[str, float] = {}
        self._bursts = Bursts()
        self._step: Optional[int] = None
        self._phase = PHASE_STEP

    @property
    def bursty(self) -> bool:
        """Whether lines come many steps at a time, so that silence says less."""
        return self._bursts.bursty

    def fold(self, seen: Iterable[Seen]) -> bool:
        """Take in observations in order of arrival; True when there was progress."""
        before = self.progress.boundaries
        for time_ns, said in seen:
            self.values.update(said.values)
            if said.boundary:
                self._add(time_ns, said)
        return self.progress.boundaries > before

    def _add(self, time_ns: int, said: Observation) -> None:
        if said.step is not None and abs(said.step) < _STEP_LIMIT:
            self._step = said.step
        if said.phase is not None:
            self._phase = said.phase
        boundary = Boundary(self.progress.boundaries, time_ns, self._step, self._phase, SOURCE_LOG)
        if self._bursts.add(time_ns, self._step):
            self.progress.extend(boundary)
        else:
            self.progress.fold(Reading(boundary.number + 1, None, [boundary]))
