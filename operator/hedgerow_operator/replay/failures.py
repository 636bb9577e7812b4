"""Collects what a log says of failing and ending; a failure counts once the run does not go on after it."""

from __future__ import annotations

from hedgerow.logs import observation as says
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_INIT
from hedgerow_operator.core.endings import FAILURES, FROM_OUTSIDE, Ended, Note, Outcome, conclude
from hedgerow_operator.replay.course import Course
from hedgerow_operator.replay.story import ALERT, FAILURE, GIVE_UP, RESTART, Incident

# Other ranks may print a step or two more while one fails.
SETTLED_STEPS = 3
# As many lines as this tell enough, however many ranks print them.
_MOST_NOTES = 4096
_FINAL = frozenset({says.SUCCESS, says.TARGET_MISSED})


class Failures:
    """Notes since the run last went on. first: when the first failure among them was told. over: the job said how it
    ended. ending: a line said that it is being ended or has failed, and it has not gone on since.
    """

    def __init__(self, ranks: int | None) -> None:
        self.first: float | None = None
        self.over = False
        self.ending = False
        self._ranks = ranks
        self._notes: list[Note] = []
        self._last_progress: float | None = None
        self._phase = PHASE_INIT
        self._at_steps = 0
        self._last_step_reached = False

    def note(self, seen: Observation, course: Course) -> None:
        """A line about the end."""
        assert seen.ending is not None
        self.over = self.over or seen.ending in _FINAL
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(Note(ending=seen.ending, text=seen.text, rank=seen.rank, speaker=seen.speaker))
        self._at_steps = course.finished
        self.ending = self.ending or seen.ending in FAILURES or seen.ending in FROM_OUTSIDE
        if seen.ending in FAILURES and self.first is None:
            self.first, self._last_progress, self._phase = course.now, course.since, course.phase

    def step(self, seen: Observation, course: Course, again: bool) -> Incident | None:
        """A step was finished. ``again``: from an earlier step, so that what failed before it was a failure indeed."""
        total = seen.values.get(says.TOTAL_STEPS)
        if total is not None:
            self._last_step_reached = seen.step is not None and seen.step >= total
        if self.over or not self._notes or not (again or course.finished >= self._at_steps + SETTLED_STEPS):
            return None
        if again:
            return self._close(course)
        self._forget()
        return None

    def restarted(self, course: Course) -> Incident | None:
        """Another attempt begins: what failed before it was a failure indeed, and is over."""
        incident = self._close(course)
        self.over = False
        return incident

    def conclude(self, course: Course) -> Ended:
        """How the run ended, as far as the log goes."""
        return conclude(self._notes, course.finished > 0, self._last_step_reached, self._ranks)

    def finish(self, course: Course, stall: Incident | None) -> tuple[Ended, Incident | None]:
        """The end of the log: its outcome, and the failure that a person is told of. A stall that ends in a crash
        stays one incident."""
        ended = self.conclude(course)
        if ended.outcome is not Outcome.FAILED:
            return ended, None
        incident = self._incident(ended)
        if stall is None:
            return ended, incident
        if stall.action == ALERT:
            stall.action, stall.acted = incident.action, incident.acted
        stall.ranks, stall.fault_class = incident.ranks, incident.fault_class
        stall.message += f"; then {incident.message}"
        return ended, None

    def _close(self, course: Course) -> Incident | None:
        ended = self.conclude(course)
        incident = self._incident(ended) if self.first is not None and ended.outcome is Outcome.FAILED else None
        self._forget()
        if incident is not None:
            incident.closed = course.now
        return incident

    def _forget(self) -> None:
        self._notes, self.first, self.ending = [], None, False

    def _incident(self, ended: Ended) -> Incident:
        at = self.first or 0.0
        return Incident(
            kind=FAILURE, phase=self._phase, opened=at, last_progress=self._last_progress, reason=ended.reason,
            message=ended.message, ranks=ended.ranks, fault_class=ended.fault_class,
            action=GIVE_UP if ended.hopeless else RESTART, acted=at,
        )
