"""One stream through the real decisions, on a pretended clock, and through the rules of others beside them."""

from dataclasses import dataclass, field
from random import Random

import msgspec

from detection_parts.kind import Kind, Wanted
from detection_parts.pretended import UID, Pretended
from detection_parts.rules import others
from detection_parts.stream import Interval, Shape
from hedgerow.durations import Histogram, add
from hedgerow.wire import PHASE_ENDING
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import DEGRADED, STALLED, find_condition, is_true
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS
from hedgerow_operator.api.status import Ledger, TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.core.deadlines import deadlines
from hedgerow_operator.core.decide import decide
from hedgerow_operator.core.durations import Learned, decode_learned, encode_learned, quantile
from hedgerow_operator.core.incidents import WATCHED
from hedgerow_operator.core.plan import CALM_INTERVAL_SECONDS, Plan
from hedgerow_operator.core.seen import Seen
from hedgerow_operator.core.step import RUNNING, STARTING
from hedgerow_operator.core.watching.job_watch import JobWatch

START = 1_800_000_000.0
# A report that is sent at once is decided on so much later.
REPORT_SECONDS = 0.3
LEAST_LIMIT_SECONDS, LIMIT_FACTOR = 10.0, 4.0


@dataclass
class Outcome:
    """What became of one stream. Seconds are since the last progress before the fault; None: never.

    seen: shown as a suspect with two evidences. detected: a person is told. limit: what the latency of a detection is
    held against. false: alerts and restarts of a healthy job.
    """

    kind: Kind
    shape: Shape
    limit: float = LEAST_LIMIT_SECONDS
    seen: float | None = None
    detected: float | None = None
    acted: float | None = None
    named: tuple[int, ...] = ()
    guilty: tuple[int, ...] = ()
    alerts: int = 0
    false_alerts: int = 0
    false_restarts: int = 0
    decisions: int = 0
    others_found: dict[str, float] = field(default_factory=dict)
    others_false: dict[str, int] = field(default_factory=dict)

    @property
    def right_culprit(self) -> bool:
        """Whether exactly the guilty are named; of all, some are enough, and a rank alone is its own culprit."""
        named, guilty = set(self.named), set(self.guilty)
        everyone = len(guilty) == self.shape.ranks and bool(named)
        return named == guilty or everyone or (self.shape.ranks == 1 and named <= {0})

    @property
    def somebody_differs(self) -> bool:
        """Whether some of the ranks, and not all, are guilty: only then can anything but its length tell a hang from a
        pause."""
        return 0 < len(set(self.guilty)) < self.shape.ranks


class Run:
    """The job as the operator keeps it, and the clock."""

    def __init__(self, kind: Kind, shape: Shape) -> None:
        self.outcome = Outcome(kind, shape)
        self._pretended = Pretended(shape, START)
        self._watch = JobWatch()
        self._job = _job(kind, shape)
        self._now = self._due = START
        self._listening = START
        self._deadlines: dict[str, float] = {}
        self._fault_at: float | None = None
        self._rules = {rule.name: rule for rule in others()}
        self.outcome.others_false = dict.fromkeys(self._rules, 0)

    def through(self, intervals: list[Interval]) -> Outcome:
        """Let the stream pass, until the job is stopped or it ends."""
        for interval in intervals:
            self._begin(interval)
            self._compare(interval)
            if not self._live(interval):
                break
            self._pretended.finish(interval, self._now)
        return self.outcome

    def _begin(self, interval: Interval) -> None:
        if interval.restarts:
            self._pretended.heard.clear()
            self._watch = JobWatch()
            self._listening = self._now
        if interval.fault and self._fault_at is None:
            self._fault_at = self._now
            phase = (interval.odd.phase if interval.odd and interval.phase != PHASE_ENDING else None) or interval.phase
            self.outcome.guilty = interval.guilty
            self.outcome.limit = self._limit(phase, interval.source)

    def _limit(self, phase: str, source: str) -> float:
        """Four usual intervals of the phase; a phase that was never seen has the limit of the spec."""
        known = decode_learned(self._job.metadata.annotations.get(ANNOTATION_LEARNED_DURATIONS)).past
        usual = quantile(self._pretended.durations.get(phase) or known.get(phase, {}), 0.5)
        if not usual:
            return deadlines({}, self._job.spec.health, 1).get(phase, 0.0) + LEAST_LIMIT_SECONDS
        return max(LEAST_LIMIT_SECONDS, LIMIT_FACTOR * usual)

    def _live(self, interval: Interval) -> bool:
        """Every look of the operator in this interval; False when the job was stopped."""
        since, end = self._now, self._now + interval.seconds
        while (at := self._next(interval, since)) < end:
            self._now = at
            if not self._look(interval, since):
                return False
        self._now = end
        return True

    def _next(self, interval: Interval, since: float) -> float:
        """When the operator looks again: regularly, when something is unusual, or when it asked for it."""
        looks = [max(self._due, since)]
        limit = self._limit_here(interval)
        now = max(self._now, since)
        looks.append(since + limit + REPORT_SECONDS if now <= since + limit else now + self._spacing(now - since))
        looks += [since + entry.after + REPORT_SECONDS + extra for entry in interval.exits for extra in (0.0, 1.0, 2.0)]
        return min(look for look in looks if look > self._now or look >= self._due)

    def _limit_here(self, interval: Interval) -> float:
        phases = {interval.phase, (interval.odd.phase if interval.odd else None) or interval.phase}
        return min(self._deadlines.get(phase, 0.0) for phase in phases)

    def _spacing(self, age: float) -> float:
        """Once a second while somebody is overdue; sparser when that goes on, and where a decision takes long."""
        return max(2.0, 0.2 * age) if self.outcome.shape.large else max(1.0, 0.02 * age)

    def _look(self, interval: Interval, since: float) -> bool:
        outcome, now = self.outcome, self._now
        self._watch.follow(self._job)
        heard = self._pretended.listen(interval, since, now, self._deadlines)
        for entry in heard if outcome.kind.watched else ():
            if entry.age == 0.0:
                self._watch.take(entry.report, now)
        seen = Seen(
            placements=self._pretended.placements(interval, since, now), heard=heard,
            listening_seconds=now - self._listening, signs=self._watch.signs(now) if outcome.kind.watched else None,
        )
        plan = decide(self._job, seen, now + interval.shift)
        outcome.decisions += 1
        self._keep(plan)
        self._deadlines = dict(plan.orders.deadlines)
        calm = plan.orders.interval_seconds >= CALM_INTERVAL_SECONDS and now - since < self._limit_here(interval)
        self._due = now + (self._calm_seconds(plan) if calm else max(plan.requeue_after or 15.0, REPORT_SECONDS))
        return self._judge(plan)

    def _calm_seconds(self, plan: Plan) -> float:
        """When to look at a job that goes on. A stream whose steps count is heard as often as they change."""
        shape = self.outcome.shape
        if self.outcome.kind.watched:
            return max(CALM_INTERVAL_SECONDS, (4.0 if shape.large else 1.0) * shape.seconds)
        return max(plan.requeue_after or 15.0, (60.0 if shape.large else 10.0) * shape.seconds)

    def _keep(self, plan: Plan) -> None:
        metadata = self._job.metadata
        if plan.learned is not None:
            metadata = msgspec.structs.replace(metadata, annotations={ANNOTATION_LEARNED_DURATIONS: plan.learned})
        self._job = msgspec.structs.replace(self._job, metadata=metadata, status=plan.status)

    def _judge(self, plan: Plan) -> bool:
        """Count what people were told and what was done; False when the job was stopped."""
        outcome, status = self.outcome, plan.status
        stopped = status.attempt_stage not in (STARTING, RUNNING)
        alerts = [event for event in plan.events if event.warning and event.reason != reasons.NODE_EXCLUDED]
        if self._fault_at is None:
            outcome.false_alerts += len(alerts)
            outcome.false_restarts += stopped
            return not stopped
        outcome.alerts += len(alerts)
        age = self._now - self._fault_at
        told = bool(alerts) or status.incident is not None or is_true(status.conditions, DEGRADED)
        if outcome.seen is None and (told or stopped or _watched(status)):
            outcome.seen = age
        if outcome.detected is None and (told or stopped):
            outcome.detected = age
        if status.incident is not None:
            outcome.named = status.incident.ranks
        elif status.degradations:
            outcome.named = status.degradations[0].ranks
        if stopped:
            outcome.acted = age
            outcome.false_restarts += outcome.kind.wanted is Wanted.TELL
        return not stopped

    def _compare(self, interval: Interval) -> None:
        """What the others would have done in this interval."""
        for name, rule in self._rules.items():
            fires = rule.fires(interval)
            if fires is None:
                continue
            if interval.fault and self.outcome.kind.wanted in (Wanted.RESTART, Wanted.STOP):
                self.outcome.others_found.setdefault(name, fires)
            else:
                self.outcome.others_false[name] += 1


def run(kind: Kind, shape: Shape) -> Outcome:
    """The stream of one kind for one job."""
    return Run(kind, shape).through(list(kind.make(shape, Random(f"{kind.name}/{shape}"))))


def _watched(status: TrainingJobStatus) -> bool:
    condition = find_condition(status.conditions, STALLED)
    return condition is not None and WATCHED in condition.message


def _job(kind: Kind, shape: Shape) -> TrainingJob:
    spec = {"workers": shape.workers, "ranksPerWorker": shape.per_worker, "local": {"command": ["python", "train.py"]},
            "checkpoint": {"directory": "/checkpoints"}}
    metadata = {"name": "pretended", "namespace": "ml", "uid": UID, "generation": 1}
    if kind.attempts_before:
        metadata["annotations"] = {ANNOTATION_LEARNED_DURATIONS: _learned(kind, shape)}
    job = training_job({"metadata": metadata, "spec": spec})
    moment = format_time(START)
    status = TrainingJobStatus(attempt=1, placement=1, attempt_stage=STARTING, start_time=moment,
                               attempt_started_at=moment, ledger=Ledger(idle_since_millis=round(START * 1000)))
    return msgspec.structs.replace(job, status=status)


def _learned(kind: Kind, shape: Shape) -> str:
    """What earlier attempts have shown."""
    past: dict[str, Histogram] = {}
    lengths = (("init", 60.0, 1), ("first-step", 5.0 * shape.seconds, 1), ("step", shape.seconds, 99))
    for phase, seconds, count in lengths:
        add(past.setdefault(phase, {}), seconds, count * kind.attempts_before * shape.ranks)
    return encode_learned(Learned(attempt=0, past=past))
