"""What surrounds the real report server, hub and reconciler here: jobs that run, and an API server that answers."""

from __future__ import annotations

from typing import Any

import msgspec

from hedgerow_operator.adapters.kube.api import Fields
from hedgerow_operator.api.labels import LABEL_JOB_UID, LABEL_PLACEMENT, TOKEN_AUDIENCE
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.seen import WORKER_RUNNING, PlacementSeen, WorkerSeen
from hedgerow_operator.reconcile.ports import JobKey
from ingest_parts.bodies import RANKS, WORKERS, uid_of

AGENTS_ACCOUNT = "hedgerow-system/hedgerow-agent"
_STARTED = "2026-01-15T07:00:00Z"


def jobs_of(nodes: int) -> dict[JobKey, TrainingJob]:
    """Jobs in the middle of their first attempt, of at most WORKERS workers each."""
    found = {}
    for job, first in enumerate(range(0, nodes, WORKERS)):
        workers, name = min(WORKERS, nodes - first), f"train-{job}"
        fields = {
            "metadata": {"name": name, "namespace": "ml", "uid": uid_of(job), "generation": 1},
            "spec": {"workers": workers, "ranksPerWorker": RANKS, "local": {"command": ["train"]},
                     "recovery": {"mode": "Observe"}},
        }
        made = training_job(fields)
        status = TrainingJobStatus(attempt=1, placement=1, attempt_stage="Running", start_time=_STARTED,
                                   attempt_started_at=_STARTED)
        found[JobKey("ml", name)] = TrainingJob(metadata=made.metadata, spec=made.spec, status=status)
    return found


class StoredJobs:
    """reconcile.ports.Jobs in memory."""

    def __init__(self, jobs: dict[JobKey, TrainingJob]) -> None:
        self.jobs = jobs

    async def get(self, key: JobKey) -> TrainingJob | None:
        return self.jobs.get(key)

    async def write_status(self, job: TrainingJob, status: TrainingJobStatus) -> TrainingJob:
        return self._keep(msgspec.structs.replace(job, status=status))

    async def annotate(self, job: TrainingJob, name: str, value: str) -> TrainingJob:
        annotations = {**job.metadata.annotations, name: value}
        return self._keep(msgspec.structs.replace(
            job, metadata=msgspec.structs.replace(job.metadata, annotations=annotations)))

    async def delete(self, job: TrainingJob) -> None:
        del self.jobs[JobKey(job.metadata.namespace, job.metadata.name)]

    async def record(self, job: TrainingJob, event: Event) -> None:
        pass

    def _keep(self, job: TrainingJob) -> TrainingJob:
        self.jobs[JobKey(job.metadata.namespace, job.metadata.name)] = job
        return job


class RunningPlacements:
    """reconcile.ports.Runtime: every worker runs, on a node of its own."""

    fences_by_time = False

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        first = int(job.metadata.uid.rpartition("-")[2]) * WORKERS
        workers = tuple([
            WorkerSeen(index=index, name=f"{job.metadata.name}-1-{index}", phase=WORKER_RUNNING,
                       node=f"node{first + index}", running_seconds=3600.0)
            for index in range(job.spec.workers)
        ])
        return (PlacementSeen(attempt=1, workers=workers, age_seconds=3600.0),)

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        raise AssertionError("nothing is restarted here")

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        raise AssertionError("nothing is restarted here")


class Api:
    """adapters.kube.api.Api as far as tokens go: each says in its first words whose it is."""

    async def create(self, _path: str, review: Fields) -> Fields:
        kind, number, worker, _fill = review["spec"]["token"].split(".")
        pod = f"{kind}.{number}.{worker}"
        account = "ml:default" if kind == "launcher" else AGENTS_ACCOUNT.replace("/", ":")
        extra = {"authentication.kubernetes.io/pod-name": [pod], "authentication.kubernetes.io/pod-uid": [pod]}
        user = {"username": f"system:serviceaccount:{account}", "extra": extra}
        return {"status": {"authenticated": True, "audiences": [TOKEN_AUDIENCE], "user": user}}

    async def find(self, path: str) -> Fields | None:
        name = path.rpartition("/")[2]
        kind, number, worker = name.split(".")
        metadata: dict[str, Any] = {"name": name, "uid": name}
        if kind == "launcher":
            metadata["labels"] = {LABEL_JOB_UID: uid_of(int(number)), LABEL_PLACEMENT: "1",
                                  "batch.kubernetes.io/job-completion-index": worker}
        return {"metadata": metadata, "spec": {"nodeName": f"node{number}"}}
