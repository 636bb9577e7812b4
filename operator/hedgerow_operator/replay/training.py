"""`hedgerow replay training`: a log, line by line, through stalls, slow-downs, alarms and failures."""

from __future__ import annotations

from hedgerow.logs import observation as says
from hedgerow.logs.observation import Observation
from hedgerow.logs.reader import AutoReader
from hedgerow.wire import MAX_SECONDS
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.replay.course import Course
from hedgerow_operator.replay.failures import Failures
from hedgerow_operator.replay.numbers import NumbersWatch
from hedgerow_operator.replay.stalls import StallWatch
from hedgerow_operator.replay.story import Incident, Story
from hedgerow_operator.replay.times import Times


class TrainingReplay:
    """Feed it the bytes of a log as they come, then :meth:`finish`. Raises ValueError for an unknown format."""

    def __init__(self, log_format: str = "auto", pattern: str | None = None, ranks: int | None = None,
                 health: HealthSpec | None = None) -> None:
        self._reader = AutoReader(log_format, pattern)
        self._times = Times()
        self._course = Course()
        self._stalls = StallWatch(health or HealthSpec(), self._times)
        self._numbers = NumbersWatch()
        self._failures = Failures(ranks)
        self._incidents: list[Incident] = []

    def feed(self, data: bytes) -> None:
        """More of the log."""
        self._take(self._reader.feed(data))

    def finish(self, gap_seconds: float = 0.0) -> Story:
        """The log ends, and ``gap_seconds`` more pass in silence."""
        self._take(self._reader.finish())
        course = self._course
        if gap_seconds > 0:
            self._silence(course.now + gap_seconds)
        ended, failed = self._failures.finish(course, self._stalls.incident)
        if failed is not None:
            self._incidents.append(failed)
        incidents = sorted([*self._incidents, *self._numbers.incidents], key=lambda entry: entry.opened)
        return Story(
            outcome=ended.outcome, reason=ended.reason, message=ended.message, format=self._reader.format,
            steps=course.finished, absolute=self._reader.clock.absolute, incidents=incidents,
            alarms=self._numbers.alarms, paces=self._numbers.paces,
        )

    def _take(self, observations: list[Observation]) -> None:
        for seen in observations:
            self._times.absolute = self._reader.clock.absolute
            self._observe(seen)

    def _observe(self, seen: Observation) -> None:
        course = self._course
        time = seen.time if seen.time is not None and abs(seen.time) <= MAX_SECONDS else None
        if time is not None and self._reader.clock.measured:
            self._silence(time)
        course.tell(time)
        if seen.ending == says.STARTED:
            self._restart()
        elif seen.ending is not None:
            self._end(seen)
        if seen.boundary:
            self._progress(seen)
        self._numbers.values(seen, course.now)

    def _end(self, seen: Observation) -> None:
        self._failures.note(seen, self._course)
        stalled = self._stalls.stopped(self._course, seen.text) if seen.ending == says.STOPPED else None
        self._incidents += [] if stalled is None else [stalled]

    def _restart(self) -> None:
        failed = self._failures.restarted(self._course)
        self._incidents += [] if failed is None or self._stalls.incident is not None else [failed]
        self._stalls.restarted(self._course)
        self._numbers.restarted(self._course.now)
        self._course.restart()

    def _silence(self, until: float) -> None:
        """Nothing progressed up to ``until``. After the last word of a job its silence means nothing."""
        course = self._course
        if course.started is None or self._failures.over or self._failures.ending:
            return
        self._incidents += self._stalls.look(course, until)

    def _progress(self, seen: Observation) -> None:
        course = self._course
        paused = self._reader.clock.measured and self._stalls.paused(course)
        again = course.goes_back(seen)
        interval = course.progress(seen, paused)
        if interval is None:
            return
        self._stalls.progressed(course, interval.seconds)
        self._numbers.step(course, interval, paused)
        if seen.finished:
            failed = self._failures.step(seen, course, again)
            if failed is not None:
                self._incidents.append(failed)
