"""Healthy training as a pretended launcher reports it: intervals between boundaries, and what is seen."""

import random
from collections.abc import Iterator

import msgspec

from hedgerow import wire
from hedgerow.durations import Histogram, add
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.decide import decide
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.seen import Heard, PlacementSeen, Seen
from hedgerow_operator.core.watching.job_watch import JobWatch
from tests.unit.core.builders import make_job, make_rank, make_report, make_worker

RANKS = 4
START = 1_800_000_000.0
LOOK_SECONDS = 1.5


class Interval(msgspec.Struct, frozen=True):
    """Time without a boundary. works: which ranks show work in it. alone: the only rank that has not stepped on yet."""

    phase: str
    seconds: float
    works: tuple[int, ...] = (0, 1, 2, 3)
    alone: int | None = None


class HealthyRun:
    """One attempt that trains, from its start; the operator decides every LOOK_SECONDS. watched: from report to report.

    stood_still: seconds without progress when an incident was first told of.
    """

    def __init__(
        self, intervals: Iterator[Interval], status: TrainingJobStatus, resume: int = 0, watched: bool = False
    ) -> None:
        self.job: TrainingJob = make_job(status=status, workers=1, ranksPerWorker=RANKS)
        self.events: list[Event] = []
        self.kinds: set[str] = set()
        self.watch = JobWatch() if watched else None
        self.stood_still: float | None = None
        self._intervals = intervals
        self._now = self._since = START
        self._step = resume
        self._beats = 0
        self._seen: dict[str, Histogram] = {}
        self._recent = 0.1

    @property
    def now(self) -> float:
        """Its clock."""
        return self._now

    def run(self, seconds: float) -> "HealthyRun":
        """Let training go on for so long."""
        end = self._now + seconds
        while self._now < end:
            interval = next(self._intervals)
            until = self._since + interval.seconds
            while self._now + LOOK_SECONDS < until:
                self._now += LOOK_SECONDS
                self._decide(interval)
            self._finish(interval, until)
        return self

    def _finish(self, interval: Interval, until: float) -> None:
        """The next boundary comes; the operator hears of it now and then."""
        add(self._seen.setdefault(interval.phase, {}), interval.seconds, RANKS)
        self._beats += 1
        self._step += interval.phase in (wire.PHASE_STEP, wire.PHASE_FIRST_STEP, wire.PHASE_INIT)
        self._recent = interval.seconds
        self._since = until

    def _decide(self, interval: Interval) -> None:
        age = self._now - self._since
        ranks = [self._rank(rank, interval, age) for rank in range(RANKS)]
        report = make_report(*ranks, durations={phase: dict(lengths) for phase, lengths in self._seen.items()})
        if self.watch is not None:
            self.watch.follow(self.job)
            self.watch.take(report, self._now)
        seen = Seen(
            placements=(PlacementSeen(attempt=1, workers=(make_worker(),), age_seconds=self._now - START),),
            heard=(Heard(report=report, age=0.0),), listening_seconds=self._now - START,
            signs=self.watch.signs(self._now) if self.watch is not None else None,
        )
        plan = decide(self.job, seen, self._now)
        self.events += plan.events
        if self.stood_still is None and plan.status.incident is not None:
            self.stood_still = age
        self.kinds |= {command.kind for commands in plan.orders.commands.values() for command in commands}
        metadata = self.job.metadata
        if plan.learned:
            metadata = msgspec.structs.replace(metadata, annotations={ANNOTATION_LEARNED_DURATIONS: plan.learned})
        self.job = msgspec.structs.replace(self.job, metadata=metadata, status=plan.status)

    def _rank(self, rank: int, interval: Interval, age: float) -> wire.RankReport:
        idle = 0.0 if rank in interval.works else age
        waits = interval.alone is not None and rank != interval.alone
        step = self._step + waits
        phase = wire.PHASE_STEP if waits else interval.phase
        return make_rank(
            rank, beats=self._beats, step=step if self._beats else None, phase=phase,
            progress_age=age, source="Library" if self._beats else None, step_seconds=self._recent, process_state="S",
            idle_seconds=idle, io_idle_seconds=idle, stack_unchanged_seconds=idle,
        )


def steps(seconds: float, jitter: float, seed: int = 7) -> Iterator[Interval]:
    """Start-up, then steps of this median length, their logarithms spread by ``jitter``."""
    chance = random.Random(seed)
    yield Interval(wire.PHASE_INIT, 20.0)
    yield Interval(wire.PHASE_FIRST_STEP, 10 * seconds)
    while True:
        yield Interval(wire.PHASE_STEP, seconds * chance.lognormvariate(0.0, jitter))


def every(amount: int, pause: Interval, run: Iterator[Interval]) -> Iterator[Interval]:
    """The run with a pause after each so many of its intervals."""
    for number, interval in enumerate(run):
        yield interval
        if number and number % amount == 0:
            yield pause


def after(amount: int, first: Iterator[Interval], then: Iterator[Interval]) -> Iterator[Interval]:
    """The first so many intervals of one run, then the steps of another."""
    for _ in range(amount):
        yield next(first)
    yield from (interval for interval in then if interval.phase == wire.PHASE_STEP)
