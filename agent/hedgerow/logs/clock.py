"""The clock of a log: its lines' own times, else its progress bars', else the step times that it claims."""

from __future__ import annotations

from typing import Optional

from hedgerow.logs.observation import STEP_SECONDS, Observation

# Times without a zone are shifted to those with one by a whole number of quarter hours, as time zones are.
_QUARTER = 900.0
_MOST_ZONE = 15 * 3600.0


class LogClock:
    """Seconds since the epoch once lines carry times; since the first line where no line has carried any yet.

    measured: something else than the job's own claims of its step times told it.
    """

    def __init__(self) -> None:
        self.absolute = False
        self.measured = False
        self.now: Optional[float] = None
        self._anchor: Optional[float] = None
        self._zoned: Optional[bool] = None
        self._shift = 0.0
        self._bar_base = 0.0
        self._bar_last: Optional[float] = None
        self._step: Optional[int] = None
        self._stride: Optional[int] = None

    def read(self, seen: Observation) -> Optional[float]:
        """The time of this observation, None where nothing tells it. It may lie before ``now``."""
        self.measured = self.measured or seen.time is not None or seen.elapsed is not None
        if seen.time is not None:
            time: Optional[float] = self._told(seen.time, seen.zoned)
        elif self.absolute:
            return None
        elif seen.elapsed is not None:
            time = self._bar(seen.elapsed)
        elif self._bar_last is None and seen.finished and STEP_SECONDS in seen.values:
            time = (self.now or 0.0) + self._claimed(seen)
        else:
            time = None
        if seen.step is not None and seen.finished:
            self._step = seen.step
        if time is not None:
            self.now = time if self.now is None else max(self.now, time)
        return time

    def _told(self, time: float, zoned: bool) -> float:
        if self.now is None:
            self.absolute = True
        elif not self.absolute and self._anchor is None:
            self._anchor = self.now - time
        if self._anchor is not None:
            return time + self._anchor
        if self._zoned is None:
            self._zoned = zoned
        elif zoned != self._zoned:
            time += self._zone(time)
        return time

    def _zone(self, time: float) -> float:
        apart = (self.now or 0.0) - time
        if not self._shift and _QUARTER / 2 < abs(apart) < _MOST_ZONE:
            self._shift = round(apart / _QUARTER) * _QUARTER
        return self._shift

    def _bar(self, elapsed: float) -> float:
        if self._bar_last is not None and elapsed < self._bar_last:
            self._bar_base += self._bar_last
        self._bar_last = elapsed
        return self._bar_base + elapsed

    def _claimed(self, seen: Observation) -> float:
        """Steps are told of every so many: a longer gap in their numbers is a gap in the log, and no time passed."""
        if seen.step is not None and self._step is not None and seen.step > self._step:
            self._stride = min(seen.step - self._step, self._stride or seen.step - self._step)
        claim = seen.values[STEP_SECONDS]
        return (self._stride or 1) * claim if 0.0 <= claim < 1e6 else 0.0
