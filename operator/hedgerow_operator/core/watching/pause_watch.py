"""Finds the pauses of a running job: intervals between steps that are no usual ones."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from hedgerow.wire import PHASE_STEP, RANK_EXITED, RankReport, Report
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core.deadlines import deadline
from hedgerow_operator.core.durations import Phases, trimmed
from hedgerow_operator.core.pause import Pause, Pauses
from hedgerow_operator.core.rank_reports import absolute


class _Interval(Struct, frozen=True):
    """What goes on at the rank that is watched: since when, after which boundary, how long as last seen."""

    began: float
    beats: int
    step: int | None
    phase: str
    seen_seconds: float


class PauseWatch:
    """Fed with every report of one attempt. Ranks wait for each other, so that the lowest one stands for all.

    ``pauses``: those from before, and what is added to them. resumed: the step that the attempt went on from.
    """

    def __init__(self, health: HealthSpec, ranks: int, attempt: int, resumed: int = 0,
                 pauses: Sequence[Pause] = ()) -> None:
        self.pauses = tuple(pauses)
        self._health, self._ranks, self._attempt, self._resumed = health, ranks, attempt, resumed
        self._rank: int | None = None
        self._interval: _Interval | None = None

    def add(self, report: Report, learned: Callable[[], Phases], now: float) -> None:
        """One report; ``learned`` gives what is known of the job's durations."""
        told = self._watched(report)
        if told is None:
            return
        before = self._interval
        self._interval = _Interval(now - (told.progress_age or 0.0), told.beats, told.step, told.phase,
                                   told.progress_age or 0.0)
        if before is not None and told.beats > before.beats and self._is_pause(before, learned):
            self._keep(before, told)

    def _watched(self, report: Report) -> RankReport | None:
        beating = [rank for rank in report.ranks if rank.beats and rank.progress_age is not None and not rank.bursty]
        told = min(beating, key=lambda rank: rank.rank, default=None)
        if told is None or told.state == RANK_EXITED or (self._rank is not None and told.rank > self._rank):
            return None
        if told.rank != self._rank:
            self._rank, self._interval = told.rank, None
        return absolute(told, self._resumed)

    def _is_pause(self, interval: _Interval, learned: Callable[[], Phases]) -> bool:
        """Longer than the deadline would be, were there no pauses. It was watched as it went on: what is learned from
        reports that were not heard for a while is no pause."""
        if interval.phase != PHASE_STEP or interval.seen_seconds <= self._health.stall.min_seconds:
            return False
        usual = {PHASE_STEP: trimmed(learned().get(PHASE_STEP, {}))}
        return interval.seen_seconds > deadline(PHASE_STEP, usual, self._health, self._ranks)

    def _keep(self, interval: _Interval, told: RankReport) -> None:
        """Its end lies between two reports: the steps that came after it in between took their usual time."""
        newest = self._interval.began if self._interval is not None else interval.began
        more = (told.beats - interval.beats - 1) * (told.step_seconds or 0.0)
        seconds = max(interval.seen_seconds, newest - interval.began - more)
        pause = Pause(round(interval.began, 1), interval.step, round(seconds, 1), self._attempt)
        self.pauses = Pauses(self.pauses).add(pause).seen
