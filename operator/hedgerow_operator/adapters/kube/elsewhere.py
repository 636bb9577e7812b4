"""Jobs in the cluster that do not run on it."""

from __future__ import annotations

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.seen import PlacementSeen
from hedgerow_operator.reconcile.ports import Refused


class LocalElsewhere:
    """Implements reconcile.ports.Runtime for a job with neither spec.kubernetes nor a SlurmCluster: nothing of it runs
    here, nothing will.
    """

    fences_by_time = True

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        return ()

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        place = "slurm without clusterRef" if job.spec.slurm else "local"
        raise Refused(
            f"spec.{place} runs on one machine, by `hedgerow local -f FILE`; "
            "to run the job on this cluster, write spec.kubernetes instead"
        )

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        return
