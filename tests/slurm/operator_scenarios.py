"""TrainingJobs on a SlurmCluster, as an operator runs them, through slurmrestd."""

import asyncio
from collections.abc import Awaitable, Callable

from hedgerow_operator.api import reasons
from hedgerow_operator.api.labels import FINALIZER_SLURM
from tests.slurm.slurm_run import SlurmRun
from tests.slurm.small_operator import KEY, SmallOperator

HANGS_ON_N3 = '[ "$SLURMD_NODENAME" = n3 ] && export HANG_RANK=$RANK HANG_STEP=9 FAULTY_ATTEMPT=$HEDGEROW_ATTEMPT'


def played(story: Callable[[SlurmRun], Awaitable[None]]) -> Callable[[SlurmRun], None]:
    """As a scenario that can be played at once with others."""

    def scenario(run: SlurmRun) -> None:
        run.watch()
        asyncio.run(story(run))  # type: ignore[arg-type]

    scenario.__name__ = story.__name__  # type: ignore[attr-defined]
    return scenario


@played
async def through_slurmrestd_without_the_node_on_which_a_rank_hangs(run: SlurmRun) -> None:
    async with SmallOperator(run.testbed, run.folder / "operator", lines=HANGS_ON_N3).running() as operator:
        await operator.until("success", lambda: operator.reason("Succeeded"))
        assert [entry.placement for entry in operator.status.history] == [1, 1, 3]
        assert [entry.name for entry in operator.status.excluded_nodes] == ["n3"]
        assert operator.status.slurm is not None
        assert operator.status.slurm.nodes == "n[1-2,4]"


@played
async def while_slurmrestd_is_away_and_a_token_runs_out(run: SlurmRun) -> None:
    operator = SmallOperator(run.testbed, run.folder / "operator", token_seconds=62, steps=600)
    async with operator.running():
        await operator.until("training", lambda: (operator.status.step or 0) >= 10)
        reads = operator.token_reads
        run.testbed.kill("slurmrestd")
        await operator.until("blindness", lambda: operator.reason("Running", "Unknown") == reasons.NOT_MEASURED)
        run.testbed.start_daemon("slurmrestd")
        await operator.until("sight", lambda: operator.reason("Running"))
        await operator.until("success", lambda: operator.reason("Succeeded"))
        assert operator.status.restarts == 0
        assert operator.token_reads > reads


@played
async def until_its_object_is_deleted_which_waits_for_its_slurm_job(run: SlurmRun) -> None:
    async with SmallOperator(run.testbed, run.folder / "operator", steps=100000).running() as operator:
        await operator.until("training", lambda: (operator.status.step or 0) >= 10)
        assert operator.store.job is not None
        assert FINALIZER_SLURM in operator.store.job.metadata.finalizers
        await operator.store.delete(operator.store.job)
        operator.queue.add(KEY)
        await operator.until("its end", lambda: operator.store.job is None)
        assert run.testbed.run("squeue --noheader") == ""
