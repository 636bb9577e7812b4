"""The course of a run as its log tells it: phase, last progress, and the lengths that have been learned."""

from __future__ import annotations

from msgspec import Struct

from hedgerow import durations
from hedgerow.durations import Histogram
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_CHECKPOINT, PHASE_FIRST_STEP, PHASE_INIT, PHASE_STEP
from hedgerow_operator.core.pause import Pause, Pauses
from hedgerow_operator.core.pauses import allowed

# A shorter stay in a phase other than training is no measure of how long it may take.
LEAST_STAY = 1.0
MOST_RANKS = 1 << 16  # prefixes of broken lines may look like ranks without number


class Interval(Struct, frozen=True, kw_only=True):
    """The time between two boundaries. steps: training steps that it finished by the job's own count, 0 for none."""

    phase: str
    began: float
    seconds: float
    steps: int


class Course:
    """Fed with observations and, where they tell one, their time; never looks ahead."""

    def __init__(self) -> None:
        self.now = 0.0
        self.since = 0.0
        self.started: float | None = None
        self.saved: float | None = None
        self.step: int | None = None
        self.finished = 0
        self.boundaries = 0
        self.learned: dict[str, Histogram] = {}
        self.pauses = Pauses()
        self._phase = PHASE_INIT
        self._attempt = 0
        self._began = 0.0
        self._stepped = False
        self._stretch_finished = False
        self._steps_of: dict[int | str | None, int] = {}

    @property
    def phase(self) -> str:
        """The phase that goes on, the first step of a start apart from the others."""
        return PHASE_FIRST_STEP if self._phase == PHASE_STEP and not self._stepped else self._phase

    def tell(self, time: float | None) -> None:
        """The clock moves on; lines of several ranks may come out of order, which never moves it back."""
        if time is None:
            return
        if self.started is None:
            self.started = self.now = self.since = self._began = time
        self.now = max(self.now, time)

    def goes_back(self, seen: Observation) -> bool:
        """Whether the job begins again from an earlier step: the same rank tells of one, as ranks lag behind others."""
        return seen.finished and seen.step is not None and seen.step < self._steps_of.get(_speaker(seen), seen.step)

    def progress(self, seen: Observation, paused: bool) -> Interval | None:
        """A boundary at ``now`` ends an interval; None when another rank tells of the same one again."""
        again = self.goes_back(seen)
        if again:
            self._stepped = False
            self._steps_of.clear()
        if seen.finished and seen.step is not None and len(self._steps_of) < MOST_RANKS:
            self._steps_of[_speaker(seen)] = seen.step
        if not again and self._told_before(seen):
            return None
        interval = Interval(phase=self.phase, began=self.since, seconds=self.now - self.since, steps=self._steps(seen))
        self._learn(interval, seen, paused)
        self._begin(seen)
        return interval

    def restart(self) -> None:
        """Another attempt begins, from whatever step."""
        self.since, self.saved, self.step = self.now, None, None
        self._phase, self._stepped, self._stretch_finished = PHASE_INIT, False, False
        self._attempt, self._began = self._attempt + 1, self.now
        self._steps_of.clear()

    def due_pause(self) -> float:
        """Seconds that the interval which goes on may last as one of the pauses that recur; 0.0: none is due."""
        if self.phase != PHASE_STEP:
            return 0.0
        return allowed(self.pauses, self.since, self.step, self._attempt, self._began)

    def _told_before(self, seen: Observation) -> bool:
        if not seen.finished or seen.step is None or self.step is None or not self._stretch_finished:
            return False
        return seen.step <= self.step

    def _steps(self, seen: Observation) -> int:
        if not seen.finished:
            return 0
        return max(1, seen.step - self.step) if seen.step is not None and self.step is not None else 1

    def _learn(self, interval: Interval, seen: Observation, paused: bool) -> None:
        if interval.phase == PHASE_STEP and paused:
            self.pauses = self.pauses.add(Pause(interval.began, self.step, interval.seconds, self._attempt))
        elif interval.phase == PHASE_STEP:
            leaves = seen.phase not in (None, PHASE_STEP)
            if seen.finished or (leaves and PHASE_STEP not in self.learned):
                self._add(PHASE_STEP, interval.seconds)
        elif interval.phase in (PHASE_FIRST_STEP, PHASE_INIT) or interval.seconds >= LEAST_STAY:
            self._add(interval.phase, interval.seconds)

    def _begin(self, seen: Observation) -> None:
        if self._phase == PHASE_CHECKPOINT and seen.phase not in (None, PHASE_CHECKPOINT):
            self.saved = self.now
        self.boundaries += 1
        self.since = self.now
        if seen.finished:
            self.finished += 1
            self._stepped = True
            self.step = seen.step if seen.step is not None else self.step
        self._stretch_finished = seen.finished
        if seen.phase is not None:
            self._phase = seen.phase
        elif self._phase == PHASE_INIT:
            self._phase = PHASE_STEP

    def _add(self, phase: str, seconds: float) -> None:
        durations.add(self.learned.setdefault(phase, {}), seconds)


def _speaker(seen: Observation) -> int | str | None:
    """What tells the processes of a job apart: their ranks, else the prefixes of their lines."""
    return seen.rank if seen.rank is not None else seen.speaker or None
