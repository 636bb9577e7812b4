"""A pretended world with a pretended clock: launchers, workers and an operator that decides by the real decisions.

It keeps what must never happen under watch: the test ends at once wherever it appears.
"""

import dataclasses
from collections.abc import Callable

import msgspec

from hedgerow import wire
from hedgerow.wire_agent import AgentReport
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS, ANNOTATION_LEARNED_PACE
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.decide import decide
from hedgerow_operator.core.nodes.places import GPUPlace
from hedgerow_operator.core.orders import answer_for
from hedgerow_operator.core.plan import CreatePlacement, DeleteJob, Event, Orders, Plan, RemovePlacement
from hedgerow_operator.core.rank_sums import RankSums, sums_of
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_SUCCEEDED, Heard, Seen
from hedgerow_operator.core.watching.job_watch import JobWatch
from hedgerow_operator.reconcile.stage_clock import StageClock
from tests.unit.core.world_launcher import Launcher
from tests.unit.core.world_parts import Placement
from tests.unit.core.world_watch import Watch

START = 1_800_000_000.0
LIVE_STAGES = (wire.STAGE_RUNNING, wire.STAGE_STOPPING)


class Crash(Exception):
    """The operator dies between two of its calls."""


class World:
    """One job, its placements, and the newest reports. Faults are set from outside between ticks.

    crash_in: the operator dies instead of its call number so many from now (0: the next); it comes back with the next
    tick and has heard nothing. crashes_again: the same for each of its lives after that. calls: what it has called.
    beat: seconds from tick to tick while it runs.
    """

    def __init__(self, job: TrainingJob) -> None:
        self.job: TrainingJob | None = job
        self.now = START
        self.placements: dict[int, Placement] = {}
        self.ghosts: list[Launcher] = []
        self.heard: dict[tuple[int, int], tuple[wire.Report, float]] = {}
        self.listening_since = START
        self._sums: dict[tuple[int, int], tuple[wire.Report, RankSums]] = {}
        self.orders: Orders | None = None
        self.events: list[Event] = []
        self.calls: list[str] = []
        self.crashes_again: list[int] = []
        self.crash_in: int | None = None
        self.blind = False
        self.tears = False
        self.steps = 10_000
        self.checkpoints: list[wire.Checkpoint] = []
        self.on_placement: Callable[[Placement], None] = lambda placement: None
        self.watch = Watch()
        self.numbers = JobWatch()
        self.stages = StageClock()
        self.clock_is_wrong_by = 0.0
        self.beat = 0.5
        self.sick: dict[str, AgentReport] = {}
        self.quarantined: dict[str, str] = {}
        self.places: dict[int, GPUPlace] = {}
        self.signals: dict[str, str] = {}

    @property
    def status(self) -> TrainingJobStatus:
        assert self.job is not None
        return self.job.status

    @property
    def launchers(self) -> list[Launcher]:
        return [launcher for placement in self.placements.values() for launcher in placement.launchers]

    @property
    def everyone(self) -> list[Launcher]:
        """Launchers of placements that the API still shows, and those that live on beyond that."""
        return [*self.launchers, *self.ghosts]

    def run(self, seconds: float, tick: float | None = None) -> "World":
        """Let time pass."""
        beat = tick or self.beat
        for _ in range(round(seconds / beat)):
            self.tick(beat)
        return self

    def until(self, stage: str, limit: float = 600.0) -> "World":
        """Let time pass until the job is in this stage."""
        for _ in range(round(limit * 2)):
            if self.status.attempt_stage == stage:
                return self
            self.tick(0.5)
        raise AssertionError(f"never {stage}, still {self.status.attempt_stage}: {self.status.reason}")

    def tick(self, seconds: float) -> None:
        """One beat of the world: ranks work, launchers report, the operator passes until nothing moves."""
        self.now += seconds
        for launcher in self.everyone:
            launcher.work(self, seconds)
        for launcher in self.launchers:
            if launcher.reachable:
                self.hear(launcher.report(self))
        self._operate()
        for launcher in self.everyone:
            report = self.heard.get((launcher.placement, launcher.worker))
            if launcher.reachable and self.orders is not None and report is not None:
                launcher.send(self, answer_for(self.orders, report[0]))
        self._drop_gone()
        self.watch.look(self)

    def hear(self, report: wire.Report) -> None:
        """A report arrives; one that was overtaken is ignored, as the report server does."""
        old = self.heard.get((report.placement, report.worker))
        if old is None or old[0].launcher != report.launcher or old[0].seq < report.seq:
            self.heard[report.placement, report.worker] = (report, self.now)
            self.numbers.take(report, self.now)

    def save(self, step: int) -> None:
        """A checkpoint appears, torn or whole."""
        validity = wire.CHECKPOINT_INVALID if self.tears else wire.CHECKPOINT_COMPLETE
        self.checkpoints = [entry for entry in self.checkpoints if entry.step != step]
        self.checkpoints.append(wire.Checkpoint(step=step, path=f"/checkpoints/{step}", validity=validity,
                                                written=self.now))

    def resumed(self, command: wire.Command) -> int:
        """The step that a start goes on from."""
        if command.resume_from is None:
            return 0
        chosen = next(entry for entry in self.checkpoints if entry.path == command.resume_from)
        assert chosen.validity == wire.CHECKPOINT_COMPLETE, f"resumed from {chosen}"
        return chosen.step

    def restart_operator(self) -> None:
        """All that it kept in memory is lost."""
        self.heard, self.orders, self.listening_since = {}, None, self.now
        self.crash_in = self.crashes_again.pop(0) if self.crashes_again else None
        self.numbers, self.stages = JobWatch(), StageClock()

    def decide(self) -> Plan:
        """What the operator decides now, without doing it."""
        assert self.job is not None
        if not self.blind:
            self._note_over()
        heard = tuple(
            Heard(report=report, age=self.now - at, sums=self._sums_of(place))
            for place, (report, at) in self.heard.items()
        )
        views = None if self.blind else tuple(placement.seen(self.now) for placement in self.placements.values())
        self.numbers.follow(self.job)
        seen = Seen(placements=views, heard=heard, listening_seconds=self.now - self.listening_since,
                    signs=self.numbers.signs(self.now),
                    stage_seconds=self.stages.seconds(self.job.metadata.uid, self.job.status, self.now),
                    sick=self.sick, quarantined=self.quarantined, places=self.places, signals=self.signals)
        return decide(self.job, seen, self.now + self.clock_is_wrong_by)

    def _sums_of(self, place: tuple[int, int]) -> RankSums:
        """Made once for each report, as the hub does."""
        report = self.heard[place][0]
        made_of, sums = self._sums.get(place, (None, None))
        if sums is None or made_of is not report:
            sums = sums_of(report.ranks)
            self._sums[place] = (report, sums)
        return sums

    def _note_over(self) -> None:
        """As the engine does: what a launcher said last does not count once its worker has ended."""
        for placement in self.placements.values():
            for worker in placement.seen(self.now).workers:
                entry = self.heard.get((placement.attempt, worker.index))
                if entry and worker.phase in (WORKER_SUCCEEDED, WORKER_FAILED) and entry[0].stage in LIVE_STAGES:
                    stopped = dataclasses.replace(entry[0], stage=wire.STAGE_STOPPED)
                    self.heard[placement.attempt, worker.index] = (stopped, entry[1])

    def _operate(self) -> None:
        try:
            for _ in range(10):
                if not self._pass():
                    break
        except Crash:
            self.restart_operator()

    def _pass(self) -> bool:
        """One pass, in the order of the engine."""
        if self.job is None:
            return False
        self._call("read")
        plan = self.decide()
        self.orders = plan.orders
        for action in plan.actions:
            self.act(action)
            if self.job is None:
                return False
        if plan.learned is not None:
            self._call("annotate")
            self._annotate(ANNOTATION_LEARNED_DURATIONS, plan.learned)
        if plan.pace is not None:
            self._call("annotate")
            self._annotate(ANNOTATION_LEARNED_PACE, plan.pace)
        if plan.status == self.job.status:
            return False
        self._call("write")
        self.job = msgspec.structs.replace(self.job, status=plan.status)
        if plan.events:
            self._call("event")
        self.events += plan.events
        return True

    def _call(self, what: str) -> None:
        self.calls.append(what)
        if self.crash_in is not None:
            if self.crash_in == 0:
                raise Crash
            self.crash_in -= 1

    def act(self, action: object) -> None:
        """Carry out one action, as one call."""
        self._call(type(action).__name__)
        if isinstance(action, CreatePlacement):
            self._create(action)
        elif isinstance(action, RemovePlacement) and action.attempt in self.placements:
            self.placements[action.attempt].remove(action.force)
        elif isinstance(action, DeleteJob):
            self.job = None

    def _create(self, action: CreatePlacement) -> None:
        assert self.job is not None
        if action.attempt in self.placements:
            return
        assert not self.placements, "a placement was created beside another one"
        self.heard = {place: entry for place, entry in self.heard.items() if place[0] != action.attempt}
        nodes = [f"node{index}" for index in range(1, 9) if f"node{index}" not in action.excluded_nodes]
        placement = self.placements[action.attempt] = Placement(
            action.attempt, self.job, nodes, self.now, action.excluded_nodes
        )
        for launcher in placement.launchers:
            launcher.steps = self.steps
        self.on_placement(placement)

    def _annotate(self, name: str, text: str) -> None:
        assert self.job is not None
        annotations = {**self.job.metadata.annotations, name: text}
        metadata = msgspec.structs.replace(self.job.metadata, annotations=annotations)
        self.job = msgspec.structs.replace(self.job, metadata=metadata)

    def _last_word(self, launcher: Launcher) -> None:
        """A launcher that is told to end by its place reports once more."""
        if launcher.reachable and launcher.alive:
            launcher.stage, launcher.stop_cause, launcher.ended_at = wire.STAGE_STOPPED, wire.STOP_SIGNAL, self.now
            self.hear(launcher.report(self))

    def _drop_gone(self) -> None:
        for attempt, placement in list(self.placements.items()):
            placement.settle(self._last_word)
            if placement.gone:
                del self.placements[attempt]
                self.ghosts += [launcher for launcher in placement.launchers if launcher.alive]
