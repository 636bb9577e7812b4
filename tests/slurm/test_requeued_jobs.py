"""Jobs that are requeued by an operator on a machine of the cluster: one number, whatever happens, never two."""

import asyncio
from pathlib import Path

import pytest

from hedgerow_operator.adapters.slurm.driver import Driver, Unsupported
from hedgerow_operator.api import reasons
from hedgerow_operator.core.step import REMOVING
from tests.slurm.at_once import AtOnce, Scenario, under_way
from tests.slurm.driver_kinds import KINDS, WITHOUT_EXCLUDED, WITHOUT_REQUEUE_AND_DRAIN, submission
from tests.slurm.operator_scenarios import HANGS_ON_N3, played
from tests.slurm.requeue_operator import RequeueOperator
from tests.slurm.slurm_run import SlurmRun
from tests.slurm.testbed.testbed import Testbed

# They are played side by side, and a test may wait for those before it.
pytestmark = pytest.mark.timeout(900)


def depends_on(operator: RequeueOperator) -> str:
    """The number of a job that waits for the success of the operator's one."""
    ((number, _state),) = operator.jobs()
    words = ["sbatch", "--parsable", f"--dependency=afterok:{number}", "--output=/dev/null", "--wrap=true"]
    return operator.testbed.run(words)


async def succeeds_as_one(operator: RequeueOperator) -> None:
    """It succeeds, and so does the only batch job that it ever had."""
    await operator.until("success", lambda: operator.reason("Succeeded"))
    await operator.until("its end", lambda: [state for _, state in operator.jobs()] == ["COMPLETED"])


def state_of(operator: RequeueOperator, number: str) -> str:
    return operator.testbed.run(["squeue", "--noheader", "--states=all", f"--jobs={number}", "--format=%T"])


@played
async def without_the_node_on_which_a_rank_hangs_and_what_depends_on_it_comes_after(run: SlurmRun) -> None:
    async with RequeueOperator(run.testbed, run.folder / "operator", lines=HANGS_ON_N3).running() as operator:
        assert isinstance(operator, RequeueOperator)
        await operator.until("its ranks", lambda: (operator.status.step or 0) >= 1)
        dependent = await asyncio.to_thread(depends_on, operator)
        ((number, _state),) = operator.jobs()
        await succeeds_as_one(operator)
        assert [entry.placement for entry in operator.status.history] == [1, 1, 3]
        assert operator.status.slurm is not None
        assert (operator.status.slurm.job_id, operator.status.slurm.nodes) == (number, "n[1-2,4]")
        await operator.until("what depends on it", lambda: state_of(operator, dependent) == "COMPLETED")


@played
async def when_its_operator_dies_in_the_middle_of_the_requeue(run: SlurmRun) -> None:
    operator = RequeueOperator(run.testbed, run.folder / "operator", lines=HANGS_ON_N3)
    async with operator.running():
        await operator.until("the removal", lambda: operator.status.attempt_stage == REMOVING)
    async with operator.running():
        await operator.until("the next placement", lambda: operator.status.placement == 3)
    async with operator.running():
        await succeeds_as_one(operator)
    assert operator.status.slurm is not None
    assert operator.status.slurm.nodes == "n[1-2,4]"


@played
async def with_the_suspect_again_where_there_are_too_few_without_it(run: SlurmRun) -> None:
    hangs = HANGS_ON_N3.replace(" && ", ' && [ "$HEDGEROW_ATTEMPT" -lt 4 ] && ', 1)
    limits = {"exclude": {"maxWaitSeconds": 5}}
    operator = RequeueOperator(run.testbed, run.folder / "operator", recovery=limits, workers=4, lines=hangs)
    async with operator.running():
        await succeeds_as_one(operator)
    assert reasons.EXCLUSION_TOO_TIGHT in [event.reason for event in operator.store.events]
    assert operator.status.excluded_nodes == ()


@played
async def when_an_administrator_requeues_it_which_counts_as_no_restart(run: SlurmRun) -> None:
    operator = RequeueOperator(run.testbed, run.folder / "operator", steps=400)
    async with operator.running():
        await operator.until("training", lambda: (operator.status.step or 0) >= 20)
        ((number, _state),) = operator.jobs()
        await asyncio.to_thread(run.testbed.run, ["scontrol", "requeue", number])
        await succeeds_as_one(operator)
    assert (operator.status.restarts, operator.status.restarts_counted) == (1, 0)
    assert operator.status.history[0].reason == reasons.REQUEUED
    assert (operator.status.resume_step or 0) >= 10


SCENARIOS: dict[str, Scenario] = {
    scenario.__name__.replace("_", " "): scenario
    for scenario in (
        with_the_suspect_again_where_there_are_too_few_without_it,
        without_the_node_on_which_a_rank_hangs_and_what_depends_on_it_comes_after,
        when_its_operator_dies_in_the_middle_of_the_requeue,
        when_an_administrator_requeues_it_which_counts_as_no_restart,
    )
}


at_once = under_way(SCENARIOS, "goes_on")


@pytest.mark.parametrize("goes_on", SCENARIOS)
def test_one_number_goes_on(goes_on: str, at_once: AtOnce) -> None:
    at_once.result(goes_on)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_job_that_waits_takes_other_exclusions_and_another_comment(
    kind: str, fresh_slurm: Testbed, tmp_path: Path
) -> None:
    driver: Driver = KINDS[kind](fresh_slurm, tmp_path)
    number = await driver.submit(submission(fresh_slurm, exclude="n4", hold=""))
    if kind in WITHOUT_REQUEUE_AND_DRAIN:
        with pytest.raises(Unsupported, match="resubmit: NewJob"):
            await driver.change(number, ["n2"], "")
    else:
        await driver.change(number, ["n2", "n3"], "hedgerow:uid:1:1=3")
        job = await driver.job(number)
        assert job is not None
        avoided = () if kind in WITHOUT_EXCLUDED else ("n2", "n3")
        assert (job.comment, job.excluded) == ("hedgerow:uid:1:1=3", avoided)
        await driver.change(number, [], "")
        job = await driver.job(number)
        assert job is not None
        # pyslurm leaves what is empty as it is.
        assert job.excluded == (avoided if kind.startswith("PySlurm") else ())
    await driver.close()
