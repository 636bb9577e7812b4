"""The outside world of the engine, pretended: every call is counted, and can be made to fail."""

from collections.abc import Mapping

import msgspec

from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.seen import PlacementSeen
from hedgerow_operator.reconcile.ports import JobKey
from tests.unit.core.builders import make_worker

KEY = JobKey("ml", "demo")


class Calls:
    """What was called, in order. failures: name of a call -> what it raises."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.failures: dict[str, Exception] = {}

    def make(self, name: str) -> None:
        """Count one call, or fail."""
        self.made.append(name)
        if name in self.failures:
            raise self.failures[name]


class FakeJobs:
    """reconcile.ports.Jobs over one job."""

    def __init__(self, job: TrainingJob | None, calls: Calls) -> None:
        self.job = job
        self.calls = calls
        self.events: list[Event] = []

    async def get(self, key: JobKey) -> TrainingJob | None:
        self.calls.make("get")
        return self.job

    async def write_status(self, job: TrainingJob, status: TrainingJobStatus) -> TrainingJob:
        self.calls.make("write_status")
        self.job = msgspec.structs.replace(job, status=status)
        return self.job

    async def annotate(self, job: TrainingJob, name: str, value: str) -> TrainingJob:
        self.calls.make("annotate")
        annotations = {**job.metadata.annotations, name: value}
        self.job = msgspec.structs.replace(
            job, metadata=msgspec.structs.replace(job.metadata, annotations=annotations))
        return self.job

    async def delete(self, job: TrainingJob) -> None:
        self.calls.make("delete")
        self.job = None

    async def record(self, job: TrainingJob, event: Event) -> None:
        self.calls.make("record")
        self.events.append(event)


class FakeRuntime:
    """reconcile.ports.Runtime: placements appear at once, and leave at once."""

    fences_by_time = True

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.attempts: set[int] = set()

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        self.calls.make("placements")
        workers = tuple(make_worker(index) for index in range(job.spec.workers))
        return tuple(PlacementSeen(attempt=attempt, workers=workers) for attempt in sorted(self.attempts))

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        self.calls.make("create")
        self.attempts.add(attempt)

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        self.calls.make("remove")
        self.attempts.discard(attempt)


class FakeLeadership:
    """Holds for so many looks."""

    def __init__(self, looks: int = 1_000_000) -> None:
        self.looks = looks

    def holds(self) -> bool:
        self.looks -= 1
        return self.looks >= 0


class FakeMetrics:
    """Remembers what was counted."""

    def __init__(self) -> None:
        self.results: list[str] = []
        self.incidents: list[str] = []
        self.restarts: list[str] = []
        self.states: dict[str, int] = {}
        self.degraded: dict[str, int] = {}

    def reconciled(self, result: str, seconds: float) -> None:
        self.results.append(result)

    def incident_opened(self, kind: str) -> None:
        self.incidents.append(kind)

    def restarted(self, cause: str) -> None:
        self.restarts.append(cause)

    def jobs_by_state(self, counts: Mapping[str, int]) -> None:
        self.states = dict(counts)

    def degraded_jobs(self, counts: Mapping[str, int]) -> None:
        self.degraded = dict(counts)
