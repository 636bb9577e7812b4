"""What every driver does on a real Slurm with the ids of jobs: unknown, of arrays, kept by a requeue, given again."""

from pathlib import Path

import pytest

from hedgerow_operator.adapters.slurm.driver import Driver, Unsupported
from hedgerow_operator.reconcile.ports import Refused
from tests.slurm.driver_kinds import KINDS, WITHOUT_REQUEUE_AND_DRAIN, submission
from tests.slurm.listed_jobs import runs, seen
from tests.slurm.testbed.testbed import Testbed


async def test_an_unknown_job_is_none_and_cancelling_it_is_fine(driver: Driver) -> None:
    assert await driver.job("999999") is None
    await driver.cancel("999999")


async def test_a_task_of_an_array_and_a_component_have_the_ids_that_users_know(
    driver: Driver, fresh_slurm: Testbed
) -> None:
    array = fresh_slurm.run("sbatch --parsable --array=1-2 --output=/dev/null --wrap='sleep 1000'")
    parts = fresh_slurm.run("sbatch --parsable -N1 --output=/dev/null : -N1 --wrap='sleep 1000'")
    for number in (f"{array}_1", f"{array}_2", f"{parts}+0", f"{parts}+1"):
        job = await seen(driver, number, runs)
        assert await driver.job(number) == job
    await driver.cancel(f"{array}_1")
    await seen(driver, f"{array}_1", lambda job: job.state == "CANCELLED")
    assert runs(await seen(driver, f"{array}_2", lambda job: True))


async def test_a_requeued_job_keeps_its_id_and_never_runs_on_the_excluded_node_again(
    driver: Driver, kind: str, fresh_slurm: Testbed
) -> None:
    number = await driver.submit(submission(fresh_slurm, exclude="n4", requeue=""))
    first = await seen(driver, number, runs)
    if kind in WITHOUT_REQUEUE_AND_DRAIN:
        with pytest.raises(Unsupported, match="resubmit: NewJob"):
            await driver.requeue(number, ["n2"])
        return
    await driver.requeue(number, ["n2", "n4"])
    again = await seen(driver, number, lambda job: runs(job) and job.restarts == 1)
    assert (first.nodes, again.nodes, again.comment) == (("n1", "n2"), ("n1", "n3"), first.comment)


async def test_a_job_that_may_not_be_requeued_is_not(driver: Driver, kind: str, fresh_slurm: Testbed) -> None:
    number = await driver.submit(submission(fresh_slurm, no_requeue=""))
    await seen(driver, number, runs)
    with pytest.raises(Unsupported if kind in WITHOUT_REQUEUE_AND_DRAIN else Refused):
        await driver.requeue(number, ["n2"])
    assert runs(await seen(driver, number, lambda job: True))


async def test_an_id_that_a_controller_gives_again_is_told_from_the_first_by_its_comment(
    kind: str, tmp_path: Path
) -> None:
    slurm = Testbed.start()
    try:
        driver = KINDS[kind](slurm, tmp_path)
        first = await driver.submit(submission(slurm, hold=""))
        slurm.lose_state()
        assert await driver.job(first) is None
        second = await driver.submit(submission(slurm, comment="hedgerow:other:1", hold=""))
        job = await driver.job(first)
        assert (first, job and job.comment) == (second, "hedgerow:other:1")
        await driver.close()
    finally:
        slurm.close()
