"""The pretended world with the real engine and hub in the operator's place, which may die or be cut off at any call."""

import asyncio

import msgspec

from hedgerow import wire
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.plan import CreatePlacement, Event, Orders, RemovePlacement
from hedgerow_operator.core.seen import PlacementSeen
from hedgerow_operator.reconcile.engine import Reconciler
from hedgerow_operator.reconcile.ports import JobKey, Unreachable
from hedgerow_operator.reconcile.reports import ReportHub
from tests.unit.core.world import Crash, World
from tests.unit.reconcile.fakes import KEY, FakeLeadership, FakeMetrics


class OpenHub(ReportHub):
    """Lets see what was published last."""

    published: Orders | None = None

    def publish(self, uid: str, orders: Orders) -> None:
        self.published = orders
        super().publish(uid, orders)


class EngineWorld(World):
    """cut_in: the call number so many from now is carried out, and its answer lost (None: none is)."""

    def __init__(self, job: TrainingJob) -> None:
        super().__init__(job)
        self.cut_in: int | None = None
        self.loop = asyncio.new_event_loop()
        self._begin()

    def close(self) -> None:
        """Free the loop."""
        self.loop.close()

    def restart_operator(self) -> None:
        super().restart_operator()
        self._begin()

    def hear(self, report: wire.Report) -> None:
        super().hear(report)
        self.hub.receive(report)

    def _begin(self) -> None:
        self.hub = OpenHub(clock=lambda: self.now)
        self.engine = Reconciler(
            WorldJobs(self), lambda job: WorldRuntime(self), self.hub, FakeLeadership(),
            lambda: self.now + self.clock_is_wrong_by,
            FakeMetrics(), stopwatch=lambda: self.now,
        )
        self.hub.on_heard = self.engine.hear

    def _operate(self) -> None:
        try:
            for _ in range(10):
                if self.loop.run_until_complete(self.engine.reconcile(KEY)) != 0.0:
                    break
        except Crash:
            self.restart_operator()
        self.orders = self.hub.published

    def call(self, what: str) -> None:
        """Count one call of the operator before it is carried out; it may die here."""
        self._call(what)

    def answered(self) -> None:
        """The call was carried out; its answer may be lost."""
        if self.cut_in is None:
            return
        if self.cut_in == 0:
            self.cut_in = None
            raise Unreachable("the connection broke before the answer came")
        self.cut_in -= 1


class WorldJobs:
    """reconcile.ports.Jobs."""

    def __init__(self, world: EngineWorld) -> None:
        self._world = world

    async def get(self, key: JobKey) -> TrainingJob | None:
        self._world.call("read")
        self._world.answered()
        return self._world.job

    async def write_status(self, job: TrainingJob, status: TrainingJobStatus) -> TrainingJob:
        self._world.call("write")
        self._world.job = msgspec.structs.replace(job, status=status)
        self._world.answered()
        return self._world.job

    async def annotate(self, job: TrainingJob, name: str, value: str) -> TrainingJob:
        self._world.call("annotate")
        metadata = msgspec.structs.replace(job.metadata, annotations={**job.metadata.annotations, name: value})
        self._world.job = msgspec.structs.replace(job, metadata=metadata)
        self._world.answered()
        return self._world.job

    async def delete(self, job: TrainingJob) -> None:
        self._world.call("DeleteJob")
        self._world.job = None

    async def record(self, job: TrainingJob, event: Event) -> None:
        self._world.call("event")
        self._world.events.append(event)


class WorldRuntime:
    """reconcile.ports.Runtime."""

    fences_by_time = True

    def __init__(self, world: EngineWorld) -> None:
        self._world = world

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        self._world.call("read")
        if self._world.blind:
            raise Unreachable("placements cannot be listed")
        self._world.answered()
        return tuple(placement.seen(self._world.now) for placement in self._world.placements.values())

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        self._world.act(CreatePlacement(attempt=attempt, excluded_nodes=excluded_nodes))
        self._world.answered()

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        self._world.act(RemovePlacement(attempt=attempt, force=force))
        self._world.answered()
