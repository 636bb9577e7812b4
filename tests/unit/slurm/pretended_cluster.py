"""A pretended Slurm behind the Driver, and a runtime over it, with a pretended clock."""

from collections.abc import Sequence
from typing import Any

import msgspec

from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.runtime import SlurmRuntime
from hedgerow_operator.api.slurm_spec import REQUEUE
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.seen import PlacementSeen
from hedgerow_operator.core.slurm.comments import comment_of, comment_of_run
from hedgerow_operator.core.slurm.runs import with_run
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode, Submission
from hedgerow_operator.core.step import PLACING
from hedgerow_operator.reconcile.ports import JobKey, Unreachable
from tests.unit.core.builders import UID, make_job

START = 1_800_000_000.0
NODES = ("n1", "n2", "n3", "n4")


class PretendedSlurm:
    """Driver. calls: what was asked. failures: name of a call -> what it raises after it was carried out."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.next_id = 1
        self.listed: list[SlurmJob] = []
        self.accounted: dict[str, SlurmJob] = {}
        self.silent: set[str] = set()
        self.calls: list[str] = []
        self.failures: dict[str, Exception] = {}
        self.submissions: list[Submission] = []

    def call(self, name: str) -> None:
        self.calls.append(name)
        if name.split()[0] in self.failures:
            raise self.failures[name.split()[0]]

    async def version(self) -> str:
        return "22.05.8"

    async def submit(self, submission: Submission) -> str:
        number, self.next_id = str(self.next_id), self.next_id + 1
        self.submissions.append(submission)
        self.listed.append(
            SlurmJob(id=number, state="PENDING", comment=submission.comment, name=submission.name,
                     submitted_at=self.wall()))
        self.call("submit")
        return number

    async def jobs(self) -> Sequence[SlurmJob]:
        self.call("jobs")
        return tuple(self.listed)

    async def job(self, job_id: str) -> SlurmJob | None:
        self.call(f"job {job_id}")
        return self.accounted.get(job_id)

    async def cancel(self, job_id: str) -> None:
        self.change_job(job_id, state="CANCELLED", flags=frozenset({"COMPLETING"}))
        self.call(f"cancel {job_id}")

    async def requeue(self, job_id: str, excluded: Sequence[str]) -> None:
        self.call(f"requeue {job_id} {','.join(excluded)}")

    async def change(self, job_id: str, excluded: Sequence[str] | None, comment: str) -> None:
        if excluded is not None:
            self.change_job(job_id, excluded=tuple(excluded))
            self.call(f"avoid {job_id} {','.join(excluded)}")
        if comment:
            self.change_job(job_id, comment=comment)
            self.call(f"comment {job_id} {comment}")

    async def nodes(self) -> Sequence[SlurmNode]:
        self.call("nodes")
        return [
            SlurmNode(name=name, state="DOWN" if name in self.silent else "IDLE", partitions=("main",),
                      flags=frozenset({"NOT_RESPONDING"} if name in self.silent else ()))
            for name in NODES
        ]

    async def drain(self, node: str, reason: str) -> None:
        self.call(f"drain {node} {reason}")

    async def resume(self, node: str) -> None:
        self.call(f"resume {node}")

    async def close(self) -> None:
        return

    # What happens in the pretended cluster.

    def wall(self) -> float:
        return START + self.now

    def change_job(self, job_id: str, **fields: Any) -> None:
        self.listed = [msgspec.structs.replace(job, **fields) if job.id == job_id else job for job in self.listed]

    def starts(self, job_id: str, *nodes: str) -> None:
        self.change_job(job_id, state="RUNNING", nodes=nodes, started_at=self.wall())

    def forgets(self, job_id: str) -> None:
        self.listed = [job for job in self.listed if job.id != job_id]

    def was_submitted(self, attempt: int = 1, **fields: Any) -> str:
        """A job that this process knows nothing of."""
        number, self.next_id = str(self.next_id), self.next_id + 1
        self.listed.append(SlurmJob(**{
            "id": number, "state": "PENDING", "comment": comment_of(UID, attempt), "name": "demo",
            "submitted_at": self.wall(), **fields}))
        return number


class Papers:
    """adapters.slurm.submissions.Submissions. by_comment: whether runs are told by comments."""

    by_comment = False

    def __init__(self) -> None:
        self.cancelled: set[str] = set()
        self.written: dict[int, tuple[int, ...]] = {}

    def runs(self, job: TrainingJob, first: int) -> tuple[int, ...]:
        return self.written.get(first, ())

    async def add_run(self, job: TrainingJob, first: int, number: int, attempt: int) -> None:
        self.written[first] = with_run(self.runs(job, first), number, attempt)

    def comment(self, job: TrainingJob, first: int, number: int, attempt: int) -> str:
        return comment_of_run(job.metadata.uid, first, number, attempt) if self.by_comment else ""

    async def prepare(self, job: TrainingJob, attempt: int, excluded: tuple[str, ...]) -> Submission:
        options = {"exclude": ",".join(excluded)} if excluded else {}
        if job.spec.slurm is not None and job.spec.slurm.resubmit == REQUEUE:
            self.written[attempt] = (attempt,)
        comment = comment_of(job.metadata.uid, attempt)
        return Submission(name="demo", comment=comment, script="#!/bin/sh", options=options)

    async def note_cancelled(self, job: TrainingJob, attempt: int, number: str) -> None:
        self.cancelled.add(number)

    def was_cancelled(self, job: TrainingJob, attempt: int, number: str) -> bool:
        return number in self.cancelled


class Site:
    """A runtime over the pretended cluster, and the job of two workers that it is asked about."""

    def __init__(self, stage: str = PLACING, **status: Any) -> None:
        self.slurm, self.papers = PretendedSlurm(), Papers()
        self.changes: list[JobKey] = []
        self.job = make_job(
            {"workers": 2, "ranksPerWorker": 1, "local": None, "slurm": {"script": "python train.py"},
             "checkpoint": {"directory": "/shared/checkpoints"}},
            status=TrainingJobStatus(**{"attempt": 1, "placement": 1, "attempt_stage": stage, **status}))
        self.begin()

    def begin(self) -> None:
        """A new process, that remembers nothing."""
        self.view = ClusterView(self.slurm, lambda: self.slurm.now)
        self.runtime = SlurmRuntime(
            self.view, self.papers, self.slurm.wall, self.changes.append, stopwatch=lambda: self.slurm.now)

    def stage(self, stage: str, **fields: Any) -> None:
        status = msgspec.structs.replace(self.job.status, attempt_stage=stage, **fields)
        self.job = msgspec.structs.replace(self.job, status=status)

    async def look(self, later: float = 6.0) -> tuple[PlacementSeen, ...]:
        """What is seen so many seconds later."""
        self.slurm.now += later
        return await self.runtime.placements(self.job)

    async def only(self, later: float = 6.0) -> PlacementSeen:
        (placement,) = await self.look(later)
        return placement

    async def create(self, attempt: int = 1, *excluded: str) -> None:
        self.slurm.now += 0.5
        await self.runtime.create(self.job, attempt, excluded)


LOST = Unreachable("Unable to contact slurm controller (connect failure)")
