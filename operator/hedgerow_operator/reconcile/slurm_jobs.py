"""How a job on a SlurmCluster is deleted: not before its Slurm job has ended; and what that needs of the store."""

from typing import Protocol

from hedgerow_operator.api.labels import FINALIZER_SLURM
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.reconcile.ports import Jobs, Runtime


class FinalizedJobs(Jobs, Protocol):
    """Jobs that can be kept from being deleted."""

    async def set_finalizers(self, job: TrainingJob, finalizers: tuple[str, ...]) -> TrainingJob:
        """Store them; returns the job as stored. Raises Conflict, Unreachable."""


class ForgettingRuntime(Runtime, Protocol):
    """A runtime that remembers jobs."""

    def forget(self, uid: str) -> None:
        """The job is gone."""


class SlurmFarewell:
    """Implements ports.Farewell: kubelets end the pods of a job that is deleted, nobody does that for us on Slurm."""

    def __init__(self, jobs: FinalizedJobs, runtime: ForgettingRuntime) -> None:
        self._jobs = jobs
        self._runtime = runtime

    async def leave(self, job: TrainingJob) -> bool:
        """The job is being deleted; whether nothing of it is left. Raises Unreachable, Conflict."""
        if FINALIZER_SLURM not in job.metadata.finalizers:
            return True
        placements = await self._runtime.placements(job)
        for placement in placements:
            if not placement.removing:
                await self._runtime.remove(job, placement.attempt, ())
        if placements:
            return False
        self._runtime.forget(job.metadata.uid)
        left = tuple(name for name in job.metadata.finalizers if name != FINALIZER_SLURM)
        await self._jobs.set_finalizers(job, left)
        return True
