"""Watches a log for stalls, with the verdict, deadlines and patience of the running operator.

A log is a single witness: silence has to go further than where a second evidence can be had.
"""

from __future__ import annotations

from msgspec.structs import replace

from hedgerow.logs.observation import PHASE_OUTSIDE
from hedgerow.wire import PHASE_FIRST_STEP, PHASE_INIT, PHASE_STEP, RANK_RUNNING, RankReport
from hedgerow_operator.api import reasons
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core import phrases
from hedgerow_operator.core.deadlines import deadlines
from hedgerow_operator.core.durations import count, quantile, trimmed
from hedgerow_operator.core.gang import Gang, RankView
from hedgerow_operator.core.patience import remaining, restart_cost, together
from hedgerow_operator.core.verdict import UNMEASURED_FACTOR, Kind, judge
from hedgerow_operator.replay.course import Course
from hedgerow_operator.replay.story import RESTART, STALL, Incident
from hedgerow_operator.replay.times import Times

# A person is told when what was learned has passed so many times over; a restart waits for UNMEASURED_FACTOR.
TELL_FACTOR = 1.5
# With fewer intervals nothing has been learned that silence alone could be held against: the spec's limit counts.
LEAST_STEPS = 8
LEAST_OTHERS = 3
_SOURCE = "Log"
_STALLS = frozenset(
    {reasons.NO_PROGRESS, reasons.RANK_STOPPED, reasons.STARTUP_TIMEOUT, reasons.ENDING_TIMEOUT}
)
_MOMENT = 0.001


class StallWatch:
    """``incident``: the stall that goes on. ``look`` moves to a time up to which nothing progressed."""

    def __init__(self, health: HealthSpec, times: Times) -> None:
        self.incident: Incident | None = None
        self._health = health
        self._sharp = replace(health, stall=replace(health.stall, min_seconds=1))
        # Nothing is ever overdue sooner, and most intervals of most logs are shorter.
        self._least = min([float(health.stall.min_seconds), *(float(phase.max_seconds) for phase in health.phases)])
        self._times = times

    def paused(self, course: Course) -> bool:
        """Whether a person would by now have been told, were it no pause that is known to recur."""
        seconds = course.now - course.since
        return seconds > self._least and seconds > self._tell_seconds(course, pauses=False)

    def look(self, course: Course, until: float) -> list[Incident]:
        """The incident that opens before ``until`` while nothing progresses, if one does; acts when it is time."""
        opened: list[Incident] = []
        if until - course.since <= self._least:
            return opened
        told_at = course.since + self._tell_seconds(course) + _MOMENT
        if self.incident is None and told_at <= until and self._stalled(course, told_at, telling=True):
            self.incident = self._open(course, told_at)
            opened.append(self.incident)
        incident = self.incident
        if incident is not None and incident.action != RESTART:
            acts_at = max(incident.opened, self._acts_at(course))
            if acts_at <= until and self._stalled(course, acts_at, telling=False):
                incident.action, incident.acted = RESTART, acts_at
        return opened

    def progressed(self, course: Course, went_on_after: float) -> None:
        """Progress came back at ``course.now`` after so many seconds."""
        if self.incident is not None:
            self.incident.closed = course.now
            self.incident.message += f"; it went on by itself after {phrases.seconds(went_on_after)}"
            self.incident = None

    def stopped(self, course: Course, reason: str) -> Incident | None:
        """The launcher was told to end the attempt. Where a stall was the reason, and this log does not show it (it has
        no times, or tells of other ranks' steps), the incident that was told of then.
        """
        if self.incident is not None or reason not in _STALLS:
            return None
        self.incident = Incident(
            kind=STALL, phase=course.phase, opened=course.now, last_progress=course.since, reason=reason,
            message="the launcher was told to end the attempt since it stood still", action=RESTART, acted=course.now,
        )
        return self.incident

    def restarted(self, course: Course) -> None:
        """Another attempt begins."""
        if self.incident is not None:
            self.incident.closed = course.now
            self.incident.message += "; another attempt was started"
            self.incident = None

    def _deadline(self, course: Course, telling: bool, pauses: bool = True) -> float:
        """Seconds for the phase that goes on. For telling a person, what happened only once is not yet usual, and the
        spec's least is kept for later; for a restart both count.
        """
        enough = {
            phase: trimmed(lengths) if telling else lengths
            for phase, lengths in course.learned.items() if self._enough(phase, count(lengths))
        }
        longest = float(self._health.stall.max_seconds)
        # One witness alone has to be silent for UNMEASURED_FACTOR times as long, which no tail reaches.
        limit = deadlines(enough, self._sharp if telling else self._health, 1, tail=False).get(course.phase, longest)
        return max(limit, min(course.due_pause(), longest)) if pauses else limit

    @staticmethod
    def _enough(phase: str, samples: int) -> bool:
        if phase == PHASE_OUTSIDE:  # nobody said what goes on there: it is never the same twice
            return False
        return samples >= (LEAST_STEPS if phase == PHASE_STEP else LEAST_OTHERS)

    def _factor(self, course: Course) -> float:
        """A limit of the spec is taken at its word, but for steps, of which many logs show only some at first."""
        if self._enough(course.phase, count(course.learned.get(course.phase, {}))):
            return 1.0 if course.phase in (PHASE_INIT, PHASE_FIRST_STEP) else TELL_FACTOR
        return UNMEASURED_FACTOR if course.phase == PHASE_STEP else 1.0

    def _tell_seconds(self, course: Course, pauses: bool = True) -> float:
        return max(self._least, self._factor(course) * self._deadline(course, True, pauses))

    def _acts_at(self, course: Course) -> float:
        deadline = self._deadline(course, telling=False)
        computing_since = course.saved if course.saved is not None else course.started or course.since
        cost = together(restart_cost(course.learned, course.since - computing_since), 0)
        patience = remaining(cost, 0.0, float(self._health.stall.max_seconds))
        return course.since + max(UNMEASURED_FACTOR * deadline, patience) + _MOMENT

    def _stalled(self, course: Course, at: float, telling: bool) -> bool:
        seconds, factor = (self._tell_seconds(course), 1.0) if telling else (
            self._deadline(course, telling), UNMEASURED_FACTOR)
        verdict = judge(_gang(course, at), {course.phase: seconds}, speaks=True, unmeasured_factor=factor)
        return verdict.kind is Kind.STALLED

    def _open(self, course: Course, at: float) -> Incident:
        step = f" at step {course.step}" if course.step is not None else ""
        usual = quantile(course.learned.get(course.phase, {}), 0.5)
        known = f", where it usually takes {phrases.seconds(usual)}" if usual else ""
        message = (
            f"nothing has progressed since {self._times.shown(course.since)} in phase {course.phase}{step}{known}; "
            f"the log is the only witness, so no restart before {self._times.shown(self._acts_at(course))}"
        )
        reason = reasons.STARTUP_TIMEOUT if course.phase == PHASE_INIT else reasons.NO_PROGRESS
        return Incident(kind=STALL, phase=course.phase, opened=at, last_progress=course.since, reason=reason,
                        message=message, acted=at)


def _gang(course: Course, at: float) -> Gang:
    """The whole job as one rank that is known by its log only."""
    report = RankReport(rank=0, local_rank=0, state=RANK_RUNNING, beats=max(1, course.boundaries), step=course.step,
                        phase=course.phase, progress_age=at - course.since, source=_SOURCE)
    view = RankView(rank=0, worker=0, node="", age=0.0, own=report)
    return Gang(workers=1, ranks_per_worker=1, attempt=1, launchers={}, fresh=frozenset({0}), ranks=(view,),
                placement=None)
