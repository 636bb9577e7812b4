"""Everything that is watched of one job from report to report. It has no clock: whoever feeds it says what time it is.

Its state is of one attempt and lives in memory; what the job's pace was is kept beyond (see Baseline).
"""

import msgspec

from hedgerow.wire import STAGE_RUNNING, Report
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS, ANNOTATION_LEARNED_PACE
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.durations import Phases, decode_learned, merge
from hedgerow_operator.core.watching.alerts import AlertsWatch
from hedgerow_operator.core.watching.baseline import decode_baseline
from hedgerow_operator.core.watching.digest import Digest, digest
from hedgerow_operator.core.watching.duration_sums import DurationSums
from hedgerow_operator.core.watching.memory import MemoryWatch
from hedgerow_operator.core.watching.pace import PaceWatch
from hedgerow_operator.core.watching.pause_watch import PauseWatch
from hedgerow_operator.core.watching.signs import Sign, Signs

# Launchers report every few seconds; the pace of the gang is looked at once all have.
ROUND_SECONDS = 4.0
# Some that are silent are not waited for longer than this, if half of them are there.
LONGEST_ROUND_SECONDS = 20.0


class JobWatch:
    """Fed with every report of the job, and before with the job itself whenever it was read."""

    def __init__(self) -> None:
        self._key: object = None
        self._workers = 0
        self._place = (0, 0)

    def follow(self, job: TrainingJob) -> None:
        """The job as stored: another attempt, or another wish of its user, begins anew."""
        status, spec = job.status, job.spec
        key = (status.placement, status.attempt, spec.health, spec.alerts, spec.workers)
        if key == self._key:
            return
        stored = decode_baseline(job.metadata.annotations.get(ANNOTATION_LEARNED_PACE))
        self._key, self._workers, self._place = key, spec.workers, (status.placement, status.attempt)
        self._pace = PaceWatch(spec.health.slowdown, stored)
        self._memory = MemoryWatch()
        self._alerts = AlertsWatch(spec.alerts)
        self._round: dict[int, Digest] = {}
        self._round_at: float | None = None
        self._rounds = 0
        self._step = 0
        self._names: frozenset[str] = frozenset()
        self._durations = DurationSums()
        learned = decode_learned(job.metadata.annotations.get(ANNOTATION_LEARNED_DURATIONS))
        self._past = learned.past if learned.attempt == status.attempt else learned.phases()
        self._pauses = PauseWatch(spec.health, spec.ranks, status.attempt, status.resume_step or 0, learned.pauses)

    def take(self, report: Report, now: float) -> bool:
        """One report; True when what is unusual has changed, so that the job deserves a look at once."""
        if (report.placement, report.attempt) != self._place or report.stage != STAGE_RUNNING:
            return False
        self._pauses.add(report, self._known, now)
        self._durations.add(report.worker, report.durations)
        seen = digest(report)
        self._memory.add(report.worker, now, seen)
        self._alerts.add(report, now)
        self._round[report.worker] = seen
        if self._round_is_over(now):
            self._end_round(now)
        names = frozenset([sign.name for sign in self._signs(now)])
        changed, self._names = names != self._names, names
        return changed

    def signs(self, now: float) -> Signs:
        """What is unusual now."""
        if self._key is None:
            return Signs()
        known = Signs(durations=self._durations.total, pauses=self._pauses.pauses)
        if not self._rounds:
            return known
        signs = self._signs(now)
        judged = self._pace.judged() | self._memory.judged() | self._alerts.judged()
        return msgspec.structs.replace(known, signs=signs, judged=judged, baseline=self._pace.baseline)

    def _signs(self, now: float) -> tuple[Sign, ...]:
        """Asked with every report: nothing here may count over all workers."""
        if not self._rounds:
            return ()
        return (*self._pace.signs(), *self._memory.signs(), *self._alerts.signs(now))

    def _known(self) -> Phases:
        return merge((self._past, self._durations.total))

    def _round_is_over(self, now: float) -> bool:
        if self._round_at is None or now < self._round_at:
            self._round_at = now
        passed = now - self._round_at
        if len(self._round) == self._workers:
            return passed >= ROUND_SECONDS or not self._rounds
        return passed >= LONGEST_ROUND_SECONDS and 2 * len(self._round) >= self._workers

    def _end_round(self, now: float) -> None:
        step = max(entry.step for entry in self._round.values())
        if step != self._step:
            self._pace.add(now, self._round)
        self._step, self._rounds, self._round_at, self._round = step, self._rounds + 1, now, {}
