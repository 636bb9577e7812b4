"""A pretended world with a pretended clock: launchers, workers and an operator that decides by the real decisions.

It keeps what must never happen under watch: two attempts alive at once end the test wherever they appear.
"""

from collections.abc import Callable

import msgspec

from hedgerow import wire
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.decide import decide
from hedgerow_operator.core.orders import answer_for
from hedgerow_operator.core.plan import CreatePlacement, DeleteJob, Event, Plan, RemovePlacement
from hedgerow_operator.core.seen import Heard, Seen
from tests.unit.core.world_parts import Launcher, Placement

START = 1_800_000_000.0


class World:
    """One job, its placements, and the newest reports. Faults are set from outside between ticks."""

    def __init__(self, job: TrainingJob) -> None:
        self.job: TrainingJob | None = job
        self.now = START
        self.placements: dict[int, Placement] = {}
        self.heard: dict[tuple[int, int], tuple[wire.Report, float]] = {}
        self.events: list[Event] = []
        self.writes = 0
        self.blind = False
        self.checkpoints: list[wire.Checkpoint] = []
        self.last_plan: Plan | None = None
        self.on_placement: Callable[[Placement], None] = lambda placement: None

    @property
    def status(self) -> TrainingJobStatus:
        assert self.job is not None
        return self.job.status

    @property
    def launchers(self) -> list[Launcher]:
        return [launcher for placement in self.placements.values() for launcher in placement.launchers]

    def run(self, seconds: float, tick: float = 0.5) -> "World":
        """Let time pass."""
        for _ in range(round(seconds / tick)):
            self.tick(tick)
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
        for launcher in self.launchers:
            launcher.work(self, seconds)
        self._report()
        for _ in range(10):
            if not self._pass():
                break
        self._answer()
        self._drop_gone()
        alive = {launcher.attempt for launcher in self.launchers if launcher.alive}
        assert len(alive) <= 1, f"two attempts alive: {alive}"

    def decide(self) -> Plan:
        """What the operator decides now, without doing it."""
        assert self.job is not None
        heard = tuple(Heard(report=report, age=self.now - at) for report, at in self.heard.values())
        views = None if self.blind else tuple(placement.seen(self.now) for placement in self.placements.values())
        return decide(self.job, Seen(placements=views, heard=heard, listening_seconds=self.now - START), self.now)

    def _pass(self) -> bool:
        if self.job is None:
            return False
        plan = self.last_plan = self.decide()
        for action in plan.actions:
            if isinstance(action, CreatePlacement):
                self._create(action)
            elif isinstance(action, RemovePlacement) and action.attempt in self.placements:
                self.placements[action.attempt].remove(action.force)
            elif isinstance(action, DeleteJob):
                self.job = None
                return False
        if plan.learned is not None:
            self._annotate(plan.learned)
        moved = plan.status != self.job.status
        self.writes += moved
        self.events += plan.events
        self.job = msgspec.structs.replace(self.job, status=plan.status)
        return moved

    def _create(self, action: CreatePlacement) -> None:
        assert self.job is not None
        if action.attempt in self.placements:
            return
        assert not self.placements, "a placement was created beside another one"
        nodes = [f"node{index}" for index in range(1, 9) if f"node{index}" not in action.excluded_nodes]
        self.placements[action.attempt] = Placement(action.attempt, self.job, nodes, self.now)
        self.on_placement(self.placements[action.attempt])

    def _annotate(self, text: str) -> None:
        assert self.job is not None
        annotations = {**self.job.metadata.annotations, ANNOTATION_LEARNED_DURATIONS: text}
        metadata = msgspec.structs.replace(self.job.metadata, annotations=annotations)
        self.job = msgspec.structs.replace(self.job, metadata=metadata)

    def _report(self) -> None:
        for launcher in self.launchers:
            if launcher.heard:
                self.heard[launcher.placement, launcher.worker] = (launcher.report(self), self.now)

    def _answer(self) -> None:
        if self.last_plan is None or self.job is None:
            return
        for launcher in self.launchers:
            if launcher.heard:
                launcher.obey(answer_for(self.decide().orders, launcher.report(self)))

    def _drop_gone(self) -> None:
        for attempt, placement in list(self.placements.items()):
            placement.settle()
            if placement.gone:
                del self.placements[attempt]
