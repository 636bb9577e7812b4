"""Folds a rank's boundaries into what reports say of its progress: step, phase, age, and histograms of durations."""

from __future__ import annotations

import collections
import statistics
from typing import Deque, Dict, Optional

from hedgerow import durations
from hedgerow.record import Boundary, Reading
from hedgerow.wire import PHASE_FIRST_STEP, PHASE_INIT, PHASE_STEP

_RECENT_STEPS = 33


class Progress:
    """The progress of one rank in one attempt. Times are CLOCK_MONOTONIC nanoseconds."""

    def __init__(self, started_ns: int) -> None:
        self.boundaries = 0
        self.step: Optional[int] = None
        self.source: Optional[str] = None
        self.histograms: Dict[str, durations.Histogram] = {}
        self._since_ns = started_ns
        self._phase = PHASE_INIT
        self._first_of_interval: Optional[int] = None
        self._first_step_seen = False
        self._recent: Deque[float] = collections.deque(maxlen=_RECENT_STEPS)

    @property
    def phase(self) -> str:
        """The phase of the interval that has not ended yet, as its duration will be recorded."""
        if self._phase == PHASE_STEP and not self._first_step_seen:
            return PHASE_FIRST_STEP
        return self._phase

    @property
    def step_seconds(self) -> Optional[float]:
        """Median length of the recent steps; None before the second step ended.

        Where only every so many steps make a boundary (lines of a log), each interval counts by its steps.
        """
        return statistics.median(self._recent) if self._recent else None

    def age(self, now_ns: int) -> float:
        """Seconds since the newest boundary, or since the start while there is none."""
        return max(0.0, (now_ns - self._since_ns) / 1e9)

    def fold(self, reading: Reading) -> bool:
        """Take in what was read; True when there was progress."""
        if reading.total == self.boundaries or not reading.boundaries:
            return False
        missed = reading.boundaries[0].number - self.boundaries
        if missed > 0:
            self._fold_missed(missed, reading.boundaries[0].time_ns)
        for boundary in reading.boundaries:
            self._end_interval(boundary.time_ns, boundary.step)
            self._begin(boundary)
            self._first_of_interval = boundary.step
        self.boundaries = reading.boundaries[-1].number + 1
        return True

    def extend(self, boundary: Boundary) -> None:
        """Another boundary that came together with the newest: both begin the same interval."""
        self.step, self._phase = boundary.step, durations.phase_within(self.histograms, boundary.phase)
        self.boundaries = boundary.number + 1

    def _begin(self, boundary: Boundary) -> None:
        self._since_ns = boundary.time_ns
        self._phase = durations.phase_within(self.histograms, boundary.phase)
        self.step = boundary.step
        self.source = boundary.source

    def _end_interval(self, until_ns: int, until_step: Optional[int]) -> None:
        seconds = max(0.0, (until_ns - self._since_ns) / 1e9)
        phase = self.phase
        durations.add(self.histograms.setdefault(phase, {}), seconds)
        if self._phase == PHASE_STEP:
            if self._first_step_seen:
                self._recent.append(seconds / _steps(self._first_of_interval, until_step))
            self._first_step_seen = True

    def _fold_missed(self, missed: int, until_ns: int) -> None:
        """The ring overran: ``missed`` boundaries were never seen. Their intervals get the mean length, as steps."""
        if self.boundaries == 0:
            # The end of init is among what was missed, so no length of it would be true.
            self._first_step_seen = True
            self._since_ns, self._phase = until_ns, PHASE_STEP
            return
        mean = max(0.0, (until_ns - self._since_ns) / 1e9) / (missed + 1)
        durations.add(self.histograms.setdefault(PHASE_STEP, {}), mean, missed)
        self._first_step_seen = True
        self._since_ns = until_ns - int(mean * 1e9)
        self._phase = PHASE_STEP


def _steps(first: Optional[int], next_first: Optional[int]) -> int:
    if first is None or next_first is None:
        return 1
    return max(1, next_first - first)
