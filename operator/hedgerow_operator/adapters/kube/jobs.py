"""TrainingJobs in the API server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.adapters.kube.events import Recorder, Subject
from hedgerow_operator.api.labels import TRAINING_JOB_KIND
from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob, training_job, training_job_fields
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Unreachable


class KubeJobs:
    """Implements reconcile.ports.Jobs; every read goes to the store itself."""

    def __init__(self, api: Api, clock: Callable[[], float]) -> None:
        self._api = api
        self._recorder = Recorder(api, clock)

    async def get(self, key: JobKey) -> TrainingJob | None:
        try:
            fields = await self._api.find(paths.training_job(key.namespace, key.name))
        except Rejected as error:
            raise Unreachable(f"TrainingJob {key.namespace}/{key.name} cannot be read: {error}") from error
        return None if fields is None else training_job(fields)

    async def existing(self, namespaces: tuple[str, ...]) -> dict[JobKey, str]:
        """The uid of every job that is not being deleted, in these namespaces; none named: in all."""
        try:
            lists = [await self._api.list(path) for path in paths.training_jobs(namespaces)]
        except Rejected as error:
            raise Unreachable(f"TrainingJobs cannot be listed: {error}") from error
        found = (fields["metadata"] for items in lists for fields in items)
        return {
            JobKey(metadata["namespace"], metadata["name"]): metadata["uid"]
            for metadata in found
            if "deletionTimestamp" not in metadata
        }

    async def write_status(self, job: TrainingJob, status: TrainingJobStatus) -> TrainingJob:
        body = {**training_job_fields(job), "status": to_builtins(status)}
        try:
            return training_job(await self._api.replace(f"{_path(job)}/status", body))
        except Rejected as error:
            raise _failure(job, error) from error

    async def annotate(self, job: TrainingJob, name: str, value: str) -> TrainingJob:
        return await self._patch(job, {"annotations": {name: value}})

    async def set_finalizers(self, job: TrainingJob, finalizers: tuple[str, ...]) -> TrainingJob:
        """See reconcile.slurm_jobs.FinalizedJobs."""
        return await self._patch(job, {"finalizers": list(finalizers)})

    async def _patch(self, job: TrainingJob, changes: Fields) -> TrainingJob:
        # With the uid, so that a new job of the same name does not inherit it.
        version = job.metadata.resource_version
        patch: Fields = {"metadata": {"uid": job.metadata.uid, "resourceVersion": version, **changes}}
        try:
            return training_job(await self._api.merge(_path(job), patch))
        except Rejected as error:
            raise _failure(job, error) from error

    async def delete(self, job: TrainingJob) -> None:
        try:
            await self._api.delete(_path(job), uid=job.metadata.uid, propagation="Background")
        except Rejected as error:
            raise _failure(job, error) from error

    async def record(self, job: TrainingJob, event: Event) -> None:
        with contextlib.suppress(Exception):
            await self._recorder.record(_subject(job), event)


def _subject(job: TrainingJob) -> Subject:
    metadata = job.metadata
    return Subject(TRAINING_JOB_KIND, metadata.namespace, metadata.name, metadata.uid)


def _path(job: TrainingJob) -> str:
    return paths.training_job(job.metadata.namespace, job.metadata.name)


def _failure(job: TrainingJob, error: Rejected) -> Exception:
    """404 is a Conflict too: the object that was read is not there any more."""
    if error.status in (404, 409):
        return Conflict(str(error))
    return Unreachable(f"TrainingJob {job.metadata.namespace}/{job.metadata.name} cannot be changed: {error}")
