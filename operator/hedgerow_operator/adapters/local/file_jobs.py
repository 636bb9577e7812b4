"""Job objects of one state directory. The lock makes this the only writer, so memory and files agree."""

import uuid
from collections.abc import Callable, Iterable

import msgspec

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.state_file import read_job, write_job
from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.api.validate import change_problems
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Unreachable


def key_of(job: TrainingJob) -> JobKey:
    """The name of a job."""
    return JobKey(job.metadata.namespace, job.metadata.name)


class FileJobs:
    """See reconcile.ports.Jobs. on_change: a job as it is stored now, save mere annotations; on_event: what to tell."""

    def __init__(
        self,
        paths: StatePaths,
        clock: Callable[[], float],
        on_change: Callable[[TrainingJob], None] = lambda job: None,
        on_event: Callable[[TrainingJob, Event], None] = lambda job, event: None,
    ) -> None:
        self._paths = paths
        self._clock = clock
        self._on_change = on_change
        self._on_event = on_event
        self._stored: dict[JobKey, TrainingJob] = {}
        self._interrupted: set[JobKey] = set()

    def apply(self, wanted: TrainingJob) -> TrainingJob:
        """Create the job, or give the stored one the wanted spec; the status stays. Raises StateError."""
        path = self._paths.object(key_of(wanted))
        stored = read_job(path)
        if stored is None:
            return self._store(self._created(wanted))
        problem = next(iter(change_problems(stored.spec, wanted.spec)), None)
        if problem is not None:
            raise StateError(f"{problem} (the job as it was created is in {path})")
        self._stored[key_of(stored)] = stored
        metadata = msgspec.structs.replace(
            stored.metadata,
            generation=stored.metadata.generation + (stored.spec != wanted.spec),
            labels=wanted.metadata.labels,
            annotations={**stored.metadata.annotations, **wanted.metadata.annotations},
        )
        updated = msgspec.structs.replace(stored, metadata=metadata, spec=wanted.spec)
        return stored if updated == stored else self._store(updated)

    def interrupt(self, keys: Iterable[JobKey] | None = None) -> None:
        """From now on these jobs (None: all) read as suspended. Nothing of that is stored, so the next run goes on."""
        self._interrupted |= set(self._stored if keys is None else keys)

    def all(self) -> tuple[TrainingJob, ...]:
        """Every job as it reads now."""
        return tuple(self._shown(job) for job in self._stored.values())

    def as_written(self, job: TrainingJob) -> TrainingJob:
        """The job with the spec that its user wrote, interrupted or not."""
        stored = self._stored.get(key_of(job))
        return job if stored is None else msgspec.structs.replace(job, spec=stored.spec)

    def restore(self) -> bool:
        """Write again what somebody deleted of the objects; whether anything was. Raises OSError."""
        lost = [key for key in self._stored if not self._paths.object(key).exists()]
        for key in lost:
            write_job(self._paths.object(key), self._stored[key])
        return bool(lost)

    def key_of_uid(self, uid: str) -> JobKey | None:
        """The job of this uid."""
        return next((key for key, job in self._stored.items() if job.metadata.uid == uid), None)

    async def get(self, key: JobKey) -> TrainingJob | None:
        """See Jobs."""
        job = self._stored.get(key)
        return None if job is None else self._shown(job)

    async def write_status(self, job: TrainingJob, status: TrainingJobStatus) -> TrainingJob:
        """See Jobs."""
        return self._shown(self._store(msgspec.structs.replace(self._current(job), status=status)))

    async def annotate(self, job: TrainingJob, name: str, value: str) -> TrainingJob:
        """See Jobs. Tells no one: with it the stored status, older than what was heard since, would be shown again."""
        current = self._current(job)
        annotations = {**current.metadata.annotations, name: value}
        metadata = msgspec.structs.replace(current.metadata, annotations=annotations)
        return self._shown(self._write(msgspec.structs.replace(current, metadata=metadata)))

    async def delete(self, job: TrainingJob) -> None:
        """See Jobs. Logs stay."""
        self._paths.object(key_of(job)).unlink(missing_ok=True)
        self._stored.pop(key_of(job), None)

    async def record(self, job: TrainingJob, event: Event) -> None:
        """See Jobs."""
        self._on_event(self.as_written(job), event)

    def _current(self, job: TrainingJob) -> TrainingJob:
        stored = self._stored.get(key_of(job))
        if stored is None or stored.metadata.resource_version != job.metadata.resource_version:
            raise Conflict(f"job {job.metadata.namespace}/{job.metadata.name} changed since it was read")
        return stored

    def _shown(self, job: TrainingJob) -> TrainingJob:
        if key_of(job) not in self._interrupted or job.spec.suspend:
            return job
        return msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, suspend=True))

    def _store(self, job: TrainingJob) -> TrainingJob:
        stored = self._write(job)
        self._on_change(stored)
        return stored

    def _write(self, job: TrainingJob) -> TrainingJob:
        version = str(int(job.metadata.resource_version or 0) + 1)
        metadata = msgspec.structs.replace(job.metadata, resource_version=version)
        stored = msgspec.structs.replace(job, metadata=metadata)
        try:
            write_job(self._paths.object(key_of(stored)), stored)
        except OSError as error:
            raise Unreachable(f"{self._paths.object(key_of(stored))} cannot be written: {error.strerror}") from None
        self._stored[key_of(stored)] = stored
        return stored

    def _created(self, wanted: TrainingJob) -> TrainingJob:
        metadata = ObjectMeta(
            name=wanted.metadata.name,
            namespace=wanted.metadata.namespace,
            labels=wanted.metadata.labels,
            annotations=wanted.metadata.annotations,
            uid=str(uuid.uuid4()),
            generation=1,
            creation_timestamp=format_time(self._clock()),
        )
        return TrainingJob(metadata=metadata, spec=wanted.spec)
