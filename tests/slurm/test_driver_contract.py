"""What every driver does on a real Slurm, whichever way it asks."""

import time

import pytest

from hedgerow_operator.adapters.slurm.driver import Driver, Unsupported
from hedgerow_operator.reconcile.ports import Refused
from tests.slurm.driver_kinds import WITHOUT_EXCLUDED, WITHOUT_REQUEUE_AND_DRAIN, submission
from tests.slurm.listed_jobs import runs, seen
from tests.slurm.testbed.testbed import Testbed


async def test_it_says_the_version(driver: Driver) -> None:
    assert (await driver.version()).split(".")[0] in ("22", "25")


async def test_a_submitted_job_is_seen_with_all_that_tells_it_from_others(
    driver: Driver, kind: str, fresh_slurm: Testbed
) -> None:
    before = time.time() - 1
    number = await driver.submit(submission(fresh_slurm, exclude="n3", time="10", no_requeue=""))
    job = await seen(driver, number, runs)
    assert (job.comment, job.name, job.user, job.partition) == ("hedgerow:uid:1", "contract", "root", "debug")
    assert job.nodes == ("n1", "n2")
    assert kind in WITHOUT_EXCLUDED or job.excluded == ("n3",)
    assert (job.time_limit_seconds, job.restarts, job.requeue) == (600.0, 0, False)
    assert (job.exit_status, job.ended_at) == (None, None)
    assert job.submitted_at is not None
    assert job.started_at is not None
    assert before <= job.submitted_at <= job.started_at <= time.time() + 1
    assert await driver.job(number) == job


async def test_the_script_runs_where_and_with_what_was_said(driver: Driver, fresh_slurm: Testbed) -> None:
    script = 'echo "$HEDGEROW_TEST|$PWD|$SLURM_JOB_NAME" > told'
    wanted = submission(fresh_slurm, script=script)
    wanted = type(wanted)(
        name=wanted.name,
        comment=wanted.comment,
        script=wanted.script,
        options=wanted.options,
        environment={"HEDGEROW_TEST": "a, b=c", "PATH": "/usr/bin:/bin"},
        directory=wanted.directory,
    )
    number = await driver.submit(wanted)
    ended = await seen(driver, number, lambda job: job.state == "COMPLETED")
    assert (fresh_slurm.jobs / "told").read_text() == f"a, b=c|{fresh_slurm.jobs}|contract\n"
    assert ended.exit_status == 0
    assert ended.ended_at is not None


@pytest.mark.parametrize(("script", "status"), [("exit 3", 3 << 8), ("kill -9 $$", 9)])
async def test_how_a_script_ended_is_told_as_by_wait(
    driver: Driver, fresh_slurm: Testbed, script: str, status: int
) -> None:
    number = await driver.submit(submission(fresh_slurm, script=script))
    ended = await seen(driver, number, lambda job: job.state == "FAILED" and not job.flags)
    assert ended.exit_status == status


async def test_a_cancelled_job_ends_and_cancelling_again_is_fine(driver: Driver, fresh_slurm: Testbed) -> None:
    number = await driver.submit(submission(fresh_slurm))
    await seen(driver, number, runs)
    await driver.cancel(number)
    await seen(driver, number, lambda job: job.state == "CANCELLED" and not job.flags)
    assert fresh_slurm.processes_of(SLURM_JOB_ID=number) == []
    await driver.cancel(number)


REFUSALS = {
    "more nodes than are left without the excluded": ({"nodes": "4", "exclude": "n3"}, "node configuration"),
    "no such partition": ({"partition": "nowhere"}, "partition"),
}


@pytest.mark.parametrize(("options", "sentence"), REFUSALS.values(), ids=REFUSALS)
async def test_what_slurm_refuses_is_told_in_its_own_words(
    driver: Driver, fresh_slurm: Testbed, options: dict[str, str], sentence: str
) -> None:
    with pytest.raises(Refused, match=sentence):
        await driver.submit(submission(fresh_slurm, **options))
    assert fresh_slurm.run("squeue --noheader") == ""


async def test_a_held_job_says_so(driver: Driver, fresh_slurm: Testbed) -> None:
    number = await driver.submit(submission(fresh_slurm, hold=""))
    job = await seen(driver, number, lambda job: job.reason == "JobHeldUser")
    assert (job.state, job.nodes, job.started_at) == ("PENDING", (), None)


async def test_nodes_are_told_with_their_gpus_and_what_runs_on_them(driver: Driver, fresh_slurm: Testbed) -> None:
    number = await driver.submit(submission(fresh_slurm, nodelist="n2,n3"))
    await seen(driver, number, runs)
    nodes = await driver.nodes()
    assert [node.name for node in nodes] == ["n1", "n2", "n3", "n4"]
    assert [node.state in ("MIXED", "ALLOCATED") for node in nodes] == [False, True, True, False]
    assert {(node.gres, node.partitions, node.address) for node in nodes} == {("gpu:8", ("debug",), "127.0.0.1")}


async def test_an_administrators_drain_is_seen_with_its_reason(driver: Driver, fresh_slurm: Testbed) -> None:
    fresh_slurm.run("scontrol update nodename=n2 state=drain reason='smells of smoke'")
    node = {node.name: node for node in await driver.nodes()}["n2"]
    assert ("DRAIN" in node.flags, node.reason, node.reason_user) == (True, "smells of smoke", "root")


async def test_a_node_is_drained_with_our_reason_and_resumed(driver: Driver, kind: str) -> None:
    if kind in WITHOUT_REQUEUE_AND_DRAIN:
        for call in (driver.drain("n2", "hedgerow: Xid 79"), driver.resume("n2")):
            with pytest.raises(Unsupported, match="CLI or PySlurm"):
                await call
        return
    await driver.drain("n2", "hedgerow: Xid 79")
    node = {node.name: node for node in await driver.nodes()}["n2"]
    assert ("DRAIN" in node.flags, node.reason) == (True, "hedgerow: Xid 79")
    for _ in range(2):  # resuming what is not drained is fine
        await driver.resume("n2")
        assert "DRAIN" not in {node.name: node for node in await driver.nodes()}["n2"].flags


@pytest.mark.parametrize("name", ["", "n1,n2", "n[1-4]", "no-such-node"])
async def test_what_is_no_node_is_never_drained_in_place_of_one(driver: Driver, kind: str, name: str) -> None:
    with pytest.raises(Unsupported if kind in WITHOUT_REQUEUE_AND_DRAIN else Refused):
        await driver.drain(name, "hedgerow: Xid 79")
    assert not any("DRAIN" in node.flags for node in await driver.nodes())
