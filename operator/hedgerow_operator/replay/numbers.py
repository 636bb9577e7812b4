"""Watches the numbers that a log carries: slow-downs of the steps, and alarms on loss, gradients and memory."""

from __future__ import annotations

from hedgerow.logs import observation as names
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_STEP
from hedgerow_operator.api import reasons
from hedgerow_operator.core import phrases
from hedgerow_operator.core.alarms import (
    GRADIENT_SPIKE,
    LOSS_SPIKE,
    MEMORY_LEAK,
    Alarm,
    LeakWatch,
    SpikeWatch,
    broken,
    not_a_number,
)
from hedgerow_operator.core.slowdown import SlowdownWatch
from hedgerow_operator.replay.course import Course, Interval
from hedgerow_operator.replay.story import SLOWDOWN, Incident, Pace, RaisedAlarm

_MOST_PACES = 20_000


class NumbersWatch:
    """Collects ``incidents`` (slow-downs) and ``alarms``, each one for as long as it goes on."""

    def __init__(self) -> None:
        self.incidents: list[Incident] = []
        self.alarms: list[RaisedAlarm] = []
        self.paces: list[Pace] = []
        self._slowdown = SlowdownWatch()
        self._slow: Incident | None = None
        self._open: dict[str, RaisedAlarm] = {}
        self._spikes, self._leaks = _spike_watches(), LeakWatch()
        self._load: dict[str, float] = {}
        self._unit = 0

    def restarted(self, now: float) -> None:
        """Another attempt begins, in new processes and from an earlier step: its numbers have no past."""
        for alarm in self._open.values():
            alarm.closed = now
        self._open.clear()
        self._spikes, self._leaks = _spike_watches(), LeakWatch()

    def step(self, course: Course, interval: Interval, paused: bool) -> None:
        """A training step has been finished; a pause is no slow step."""
        if interval.phase != PHASE_STEP or not interval.steps:
            return
        self._draw(Pace(course.now, interval.seconds))
        if not paused:
            load = tuple(sorted(self._load.values()))
            # Lines that tell of more steps at once than the first one did are no slower for it.
            self._unit = self._unit or interval.steps
            self._slowdown.add(course.now, interval.seconds * self._unit / interval.steps, load)
            self._follow(course)

    def values(self, seen: Observation, now: float) -> None:
        """The numbers of one line."""
        for name in (names.BATCH_SIZE, names.SEQUENCE_LENGTH):
            if name in seen.values:
                self._load[name] = seen.values[name]
        for name, watch in self._spikes.items():
            if name in seen.values:
                self._set(now, broken(name), not_a_number(name, seen.values[name]))
                self._set(now, watch.name, watch.add(seen.values[name]))
        if names.MEMORY_BYTES in seen.values:
            self._set(now, MEMORY_LEAK, self._leaks.add(now, seen.values[names.MEMORY_BYTES]))

    def _follow(self, course: Course) -> None:
        slow = self._slowdown.slow
        if slow is None and self._slow is not None:
            self._slow.closed, self._slow = course.now, None
        elif slow is not None and self._slow is None:
            self._slow = Incident(
                kind=SLOWDOWN, phase=PHASE_STEP, opened=course.now, last_progress=course.now, acted=course.now,
                reason=reasons.SLOWER_THAN_BASELINE,
                message=f"steps take {slow.percent:.0f} % longer than this job's own: {phrases.seconds(slow.now)}, "
                f"usually {phrases.seconds(slow.usual)}",
            )
            self.incidents.append(self._slow)

    def _set(self, now: float, name: str, alarm: Alarm | None) -> None:
        known = self._open.get(name)
        if alarm is None and known is not None:
            known.closed = now
            del self._open[name]
        elif alarm is not None and known is None:
            self._open[name] = RaisedAlarm(name=alarm.name, opened=now, message=alarm.message)
            self.alarms.append(self._open[name])

    def _draw(self, pace: Pace) -> None:
        """Bounded: when there are too many, every second one is kept, from then on too."""
        self.paces.append(pace)
        if len(self.paces) > _MOST_PACES:
            self.paces = self.paces[::2]


def _spike_watches() -> dict[str, SpikeWatch]:
    return {
        names.LOSS: SpikeWatch(names.LOSS, LOSS_SPIKE),
        names.GRAD_NORM: SpikeWatch(names.GRAD_NORM, GRADIENT_SPIKE),
    }
