"""The runtime over a pretended Slurm: never two jobs of one placement, and none that is called gone and may live."""

import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import SlurmJobStatus
from hedgerow_operator.core.seen import (
    WORKER_FAILED,
    WORKER_PENDING,
    WORKER_RUNNING,
    WORKER_SUCCEEDED,
    WORKER_UNKNOWN,
)
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.step import ENDED, GATHERING, PLACING, REMOVING, RUNNING
from hedgerow_operator.reconcile.ports import Refused, TooTight, Unreachable
from tests.unit.slurm.pretended_cluster import LOST, Site


async def placed(stage: str = RUNNING) -> Site:
    """A placement that runs on n1 and n3."""
    site = Site()
    await site.create()
    site.slurm.starts("1", "n1", "n3")
    site.stage(stage)
    placement = await site.only()
    assert [worker.phase for worker in placement.workers] == [WORKER_RUNNING, WORKER_RUNNING]
    return site


# Submitting.


async def test_a_placement_is_submitted_once_however_often_it_is_asked_for() -> None:
    site = Site()
    for _ in range(3):
        await site.create()
    assert len(site.slurm.submissions) == 1


async def test_a_new_process_finds_what_another_had_submitted() -> None:
    site = Site()
    site.slurm.was_submitted()
    await site.create()
    assert site.slurm.submissions == []


async def test_a_placement_that_has_ended_already_is_not_submitted_again() -> None:
    site = Site()
    site.slurm.was_submitted(state="CANCELLED")
    await site.create()
    assert site.slurm.submissions == []


async def test_after_an_answer_that_was_lost_it_looks_again() -> None:
    site = Site()
    site.slurm.failures["submit"] = LOST
    with pytest.raises(Unreachable):
        await site.create()
    site.slurm.failures.clear()
    await site.create()
    assert len(site.slurm.submissions) == 1


async def test_what_was_sent_to_a_controller_that_did_not_answer_is_waited_for_once_it_does() -> None:
    site = Site()
    site.slurm.failures["submit"] = LOST
    with pytest.raises(Unreachable):
        await site.create()
    site.slurm.failures.clear()
    site.slurm.forgets("1")
    site.slurm.now += 60.0
    for _ in range(2):
        with pytest.raises(Unreachable, match="not known yet"):
            await site.create()
    site.slurm.now += 5.0
    await site.create()
    assert len(site.slurm.submissions) == 2


async def test_a_submission_that_came_late_is_cancelled_and_the_first_one_stays() -> None:
    site = Site()
    await site.create()
    site.slurm.now += 1.0
    site.slurm.was_submitted()
    placement = await site.only()
    assert placement.slurm is not None
    assert (placement.slurm.job_id, [call for call in site.slurm.calls if "cancel" in call]) == ("1", ["cancel 2"])


@pytest.mark.parametrize(
    ("sentence", "excluded", "kind"),
    [
        ("Requested node configuration is not available", ("n3",), TooTight),
        ("Requested node configuration is not available", (), Refused),
        ("Invalid account or account/partition combination specified", ("n3",), Refused),
        ("Slurm temporarily unable to accept job, sleeping and retrying", (), Unreachable),
    ],
)
async def test_what_a_refusal_means(sentence: str, excluded: tuple[str, ...], kind: type[Exception]) -> None:
    site = Site()
    site.slurm.failures["submit"] = Refused(sentence)
    with pytest.raises(kind) as refusal:
        await site.create(1, *excluded)
    assert type(refusal.value) is kind


async def test_what_was_lost_by_a_controller_that_died_is_missed_for_a_while_and_then_gone() -> None:
    site = Site()
    await site.create()
    site.slurm.forgets("1")
    assert len(await site.look(1.0)) == 1
    assert await site.look(11.0) == ()


async def test_what_slurm_keeps_of_a_submission_that_it_refused_is_no_placement() -> None:
    site = Site()
    site.slurm.was_submitted(state="FAILED", reason="BadConstraints", ended_at=site.slurm.wall())
    assert await site.look() == ()
    await site.create()
    assert len(site.slurm.submissions) == 1


async def test_an_attempt_that_never_began_is_placed_again_under_its_number() -> None:
    site = await placed(REMOVING)
    await site.runtime.remove(site.job, 1, ())
    site.slurm.change_job("1", state="CANCELLED", flags=frozenset())
    await site.look()
    assert await site.look() == ()
    site.stage(PLACING)
    await site.create()
    placement = await site.only()
    assert placement.slurm is not None
    assert (placement.slurm.job_id, placement.removing) == ("2", False)
    site.slurm.change_job("2", state="CANCELLED")
    assert (await site.only()).cause == reasons.CANCELLED_OUTSIDE


async def test_of_two_that_have_ended_under_one_number_the_last_one_counts() -> None:
    site = Site(GATHERING)
    site.slurm.was_submitted(state="CANCELLED")
    site.slurm.now += 60.0
    site.slurm.was_submitted(state="TIMEOUT")
    assert (await site.only()).cause == reasons.TIME_LIMIT_REACHED


# What is shown.


async def test_a_job_that_waits_has_workers_without_nodes_and_says_why() -> None:
    site = Site()
    await site.create()
    site.slurm.change_job("1", reason="Resources")
    placement = await site.only()
    assert [(worker.index, worker.phase, worker.node) for worker in placement.workers] == [
        (0, WORKER_PENDING, ""),
        (1, WORKER_PENDING, ""),
    ]
    assert "waits" in placement.waiting
    assert not placement.held


async def test_a_job_that_is_held_says_so() -> None:
    site = Site()
    await site.create()
    site.slurm.change_job("1", reason="JobHeldUser")
    placement = await site.only()
    assert placement.held
    assert "scontrol release 1" in placement.waiting


async def test_a_job_that_can_never_run_as_it_was_asked_for_is_told_from_one_that_waits_for_its_turn() -> None:
    site = Site()
    await site.create()
    site.slurm.change_job("1", reason="PartitionTimeLimit")
    placement = await site.only()
    assert placement.hopeless
    assert "cannot run as it was asked for" in placement.waiting


async def test_a_job_that_runs_has_its_nodes_in_their_order() -> None:
    placement = await (await placed()).only()
    assert [(worker.index, worker.node) for worker in placement.workers] == [(0, "n1"), (1, "n3")]
    assert placement.slurm is not None
    assert (placement.slurm.job_id, placement.slurm.state, placement.slurm.nodes) == ("1", "RUNNING", "n[1,3]")


async def test_a_node_that_does_not_answer_is_silent_while_the_job_goes_on() -> None:
    site = await placed()
    site.slurm.silent = {"n3"}
    placement = await site.only(16.0)
    assert [(worker.phase, worker.node_silent) for worker in placement.workers] == [
        (WORKER_RUNNING, False),
        (WORKER_RUNNING, True),
    ]


async def test_a_job_that_somebody_suspends_says_so_and_is_no_failure() -> None:
    site = await placed()
    site.slurm.change_job("1", state="SUSPENDED")
    placement = await site.only()
    assert "suspended" in placement.paused
    assert (placement.ended, placement.cause) == ("", "")
    site.slurm.change_job("1", state="RUNNING")
    placement = await site.only()
    assert (placement.paused, placement.was_paused) == ("", True)


# State, how the placement ended, and the cause.
ENDS: dict[str, tuple[str, str, str]] = {
    "by itself": ("COMPLETED", WORKER_SUCCEEDED, ""),
    "by a person": ("CANCELLED", WORKER_FAILED, reasons.CANCELLED_OUTSIDE),
    "by its time limit": ("TIMEOUT", WORKER_FAILED, reasons.TIME_LIMIT_REACHED),
    "by a job of higher priority": ("PREEMPTED", WORKER_FAILED, reasons.PREEMPTED),
    "by an error of the script": ("FAILED", WORKER_FAILED, reasons.PLACEMENT_FAILED),
    "for lack of memory": ("OUT_OF_MEMORY", WORKER_FAILED, reasons.OUT_OF_MEMORY),
}


@pytest.mark.parametrize("case", ENDS)
async def test_a_job_that_ends(case: str) -> None:
    state, ended, cause = ENDS[case]
    site = await placed()
    site.slurm.change_job("1", state=state, exit_status=0 if state == "COMPLETED" else 256)
    placement = await site.only()
    assert (placement.ended, placement.cause) == (ended, cause)
    assert {worker.phase for worker in placement.workers} == {ended}


async def test_what_we_have_cancelled_ourselves_was_cancelled_by_nobody_else() -> None:
    site = await placed()
    site.papers.cancelled.add("1")
    site.slurm.change_job("1", state="CANCELLED")
    assert (await site.only()).cause == reasons.WORKER_LOST


async def test_a_job_that_slurm_puts_back_while_its_ranks_train_is_to_be_replaced() -> None:
    site = await placed()
    site.slurm.change_job("1", state="PENDING", nodes=(), reason="launch failed requeued held")
    placement = await site.only()
    assert (placement.cause, placement.waiting) == (reasons.REQUEUED, "")
    assert {worker.phase for worker in placement.workers} == {WORKER_UNKNOWN}


# Going.


async def test_a_job_that_is_asked_to_go_is_there_until_it_has_ended() -> None:
    site = await placed(REMOVING)
    await site.runtime.remove(site.job, 1, ())
    placement = await site.only(1.0)
    assert placement.removing
    assert all(worker.terminating for worker in placement.workers)
    site.slurm.change_job("1", state="CANCELLED", flags=frozenset())
    assert {worker.phase for worker in (await site.only(2.0)).workers} == {WORKER_FAILED}
    assert await site.look(2.0) == ()


async def test_a_job_of_another_with_the_same_number_is_not_cancelled() -> None:
    site = await placed(REMOVING)
    site.slurm.change_job("1", comment="somebody else's")
    await site.runtime.remove(site.job, 1, ())
    assert not any("cancel" in call for call in site.slurm.calls)


async def test_one_that_a_person_has_just_cancelled_is_not_called_ours() -> None:
    site = await placed(REMOVING)
    site.slurm.change_job("1", state="CANCELLED", flags=frozenset({"COMPLETING"}))
    await site.runtime.remove(site.job, 1, ())
    assert site.papers.cancelled == set()


async def test_a_controller_that_forgot_that_it_was_asked_is_asked_again() -> None:
    site = await placed(REMOVING)
    await site.runtime.remove(site.job, 1, ())
    site.slurm.change_job("1", state="RUNNING", flags=frozenset())
    await site.look(11.0)
    assert [call for call in site.slurm.calls if "cancel" in call] == ["cancel 1", "cancel 1"]


async def test_a_job_that_has_ended_is_not_gone_while_one_of_its_nodes_is_silent() -> None:
    site = await placed(REMOVING)
    site.slurm.silent = {"n3"}
    site.slurm.change_job("1", state="NODE_FAIL")
    await site.runtime.remove(site.job, 1, ())
    for _ in range(20):
        placement = await site.only(15.0)
    assert [(worker.phase, worker.node_silent, worker.terminating) for worker in placement.workers] == [
        (WORKER_FAILED, False, True),
        (WORKER_UNKNOWN, True, True),
    ]


async def test_it_is_gone_once_that_node_has_answered_for_a_while() -> None:
    site = await placed(REMOVING)
    site.slurm.silent = {"n3"}
    site.slurm.change_job("1", state="NODE_FAIL")
    await site.runtime.remove(site.job, 1, ())
    await site.look()
    site.slurm.silent = set()
    assert len(await site.look(2.0)) == 1
    assert (await site.only(2.0)).workers[1].node_silent
    await site.look(12.0)
    assert await site.look(2.0) == ()


async def test_it_is_gone_once_nobody_waits_for_that_node_any_more() -> None:
    site = await placed(REMOVING)
    site.slurm.silent = {"n3"}
    site.slurm.change_job("1", state="NODE_FAIL")
    await site.look(11.0)
    await site.runtime.remove(site.job, 1, ())
    (worker,) = [worker for worker in (await site.only(11.0)).workers if worker.node_silent]
    await site.runtime.remove(site.job, 1, (worker.name,))
    assert [seen.node for seen in (await site.only(2.0)).workers] == ["n1"]
    assert await site.look(2.0) == ()


async def test_an_ended_job_stays_to_be_seen_until_it_is_asked_to_go() -> None:
    site = await placed()
    site.slurm.change_job("1", state="FAILED", exit_status=256)
    for _ in range(3):
        assert (await site.only()).ended == WORKER_FAILED


async def test_one_that_slurm_has_forgotten_is_asked_for_in_the_accounts() -> None:
    site = await placed()
    site.slurm.accounted["1"] = next(job for job in site.slurm.listed if job.id == "1")
    site.slurm.forgets("1")
    site.slurm.accounted["1"] = type(site.slurm.accounted["1"])(
        id="1", state="TIMEOUT", comment=site.slurm.accounted["1"].comment, name="demo"
    )
    assert (await site.only()).cause == reasons.TIME_LIMIT_REACHED


async def test_another_job_that_the_accounts_know_under_its_number_is_not_it() -> None:
    site = await placed()
    site.slurm.accounted["1"] = SlurmJob(id="1", state="COMPLETED", comment="somebody else's", name="demo")
    site.slurm.forgets("1")
    assert {worker.phase for worker in (await site.only()).workers} == {WORKER_UNKNOWN}


async def test_one_that_nobody_knows_any_more_is_unknown_first_and_lost_later() -> None:
    site = await placed()
    site.slurm.forgets("1")
    assert {worker.phase for worker in (await site.only()).workers} == {WORKER_UNKNOWN}
    assert (await site.only(150.0)).cause == reasons.WORKER_LOST


async def test_a_new_process_takes_from_the_status_what_slurm_has_forgotten() -> None:
    site = Site(RUNNING, slurm=SlurmJobStatus(job_id="7", placement=1, state="RUNNING", nodes="n[1,3]"))
    site.slurm.silent = {"n3"}
    placement = await site.only()
    assert [(worker.node, worker.node_silent) for worker in placement.workers] == [("n1", False), ("n3", True)]


async def test_nothing_is_taken_from_the_status_for_a_placement_that_is_not_made_yet() -> None:
    site = Site(PLACING, slurm=SlurmJobStatus(job_id="7", placement=1, state="PENDING"))
    assert await site.look() == ()


async def test_one_that_was_asked_to_go_and_that_slurm_has_forgotten_is_gone_soon() -> None:
    site = await placed(REMOVING)
    await site.runtime.remove(site.job, 1, ())
    site.slurm.forgets("1")
    assert len(await site.look(2.0)) == 1
    await site.look(11.0)
    assert await site.look(2.0) == ()


async def test_a_finished_job_is_forgotten_with_its_slurm_job() -> None:
    site = await placed()
    site.slurm.change_job("1", state="COMPLETED", exit_status=0)
    site.stage(ENDED)
    assert (await site.only()).ended == WORKER_SUCCEEDED
    site.slurm.forgets("1")
    assert await site.look() == ()


async def test_nothing_is_concluded_from_a_controller_that_is_away() -> None:
    site = await placed()
    site.slurm.failures["jobs"] = LOST
    with pytest.raises(Unreachable):
        await site.look()


# Exclusions.


@pytest.mark.parametrize(("silent", "tight"), [({"n4"}, True), (set(), False)])
async def test_exclusions_are_what_a_job_waits_for_only_when_too_few_nodes_are_left(
    silent: set[str], tight: bool
) -> None:
    site = Site(GATHERING)
    site.slurm.was_submitted(excluded=("n3", "n2"), partition="main", reason="Resources")
    site.slurm.silent = silent
    placement = await site.only()
    assert {bool(worker.unschedulable) for worker in placement.workers} == {tight}
    assert placement.avoided == ("n3", "n2")


# Calls.


async def test_five_hundred_jobs_share_one_listing_a_period() -> None:
    site = Site(RUNNING)
    site.slurm.was_submitted()
    site.slurm.starts("1", "n1", "n3")
    for _ in range(500):
        await site.runtime.placements(site.job)
    assert (site.slurm.calls.count("jobs"), site.slurm.calls.count("nodes")) == (1, 1)


async def test_after_an_own_write_what_was_listed_before_is_not_used() -> None:
    site = Site()
    await site.look()
    await site.create()
    assert len(await site.look(0.0)) == 1
