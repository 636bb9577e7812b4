"""A batch job that is requeued keeps its number: which run of it is which placement, and what is asked of Slurm."""

from typing import Any

import msgspec
import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import ExcludedNode, Stopping
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_RUNNING
from hedgerow_operator.core.slurm.runs import entry_of, with_run
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.step import PLACING, REMOVING, RUNNING
from hedgerow_operator.reconcile.ports import Unreachable
from tests.unit.slurm.pretended_cluster import Site

N3 = ExcludedNode(name="n3", reason=reasons.NO_PROGRESS, until="2027-01-02T00:00:00Z")


def site_that_requeues(stage: str = PLACING, action: Any = "NewPlacement", **status: Any) -> Site:
    """A job whose attempt is being ended for another."""
    plan = Stopping(action=action, reason=reasons.NO_PROGRESS, since="2027-01-01T00:00:00Z")
    site = Site(stage, stopping=plan, excluded_nodes=(N3,), **status)
    slurm = msgspec.structs.replace(site.job.spec.slurm, resubmit="Requeue")
    site.job = msgspec.structs.replace(site.job, spec=msgspec.structs.replace(site.job.spec, slurm=slurm))
    return site


async def placed(action: Any = "NewPlacement") -> Site:
    """Its batch job runs on n1 and n3, and is to go."""
    site = site_that_requeues(action=action)
    await site.create()
    site.slurm.starts("1", "n1", "n3")
    site.stage(RUNNING)
    await site.look()
    site.stage(REMOVING)
    return site


async def test_it_is_put_back_and_not_cancelled_and_never_again_on_the_suspect() -> None:
    site = await placed()
    await site.runtime.remove(site.job, 1, ())
    assert [call for call in site.slurm.calls if call.split()[0] in ("cancel", "requeue")] == ["requeue 1 n3"]
    assert site.papers.cancelled == set()


@pytest.mark.parametrize("action", ["Suspend", "Fail"])
async def test_one_after_which_none_follows_is_cancelled(action: str) -> None:
    site = await placed(action)
    await site.runtime.remove(site.job, 1, ())
    assert [call for call in site.slurm.calls if call.split()[0] in ("cancel", "requeue")] == ["cancel 1"]


async def test_its_run_is_gone_once_it_waits_for_the_next_which_is_the_next_placement() -> None:
    site = await placed()
    await site.runtime.remove(site.job, 1, ())
    site.slurm.change_job("1", state="PENDING", flags=frozenset({"COMPLETING"}), nodes=(), restarts=1)
    assert (await site.only()).ended == ""
    site.slurm.change_job("1", flags=frozenset(), reason="BeginTime")
    assert (await site.only()).ended == WORKER_FAILED
    assert await site.look() == ()
    site.stage(PLACING, attempt=3, placement=3)
    await site.create(3, "n3")
    assert (len(site.slurm.submissions), site.papers.written) == (1, {1: (1, 3)})
    site.slurm.starts("1", "n1", "n2")
    placement = await site.only()
    assert (placement.attempt, {worker.phase for worker in placement.workers}) == (3, {WORKER_RUNNING})


async def test_nothing_is_placed_beside_a_run_that_has_not_ended() -> None:
    site = await placed()
    with pytest.raises(Unreachable, match="has not ended"):
        await site.create(3)
    assert site.papers.written == {1: (1,)}


async def test_one_that_slurm_itself_puts_back_is_to_be_placed_anew() -> None:
    site = await placed()
    site.stage(RUNNING)
    site.slurm.change_job("1", state="PENDING", nodes=(), restarts=1)
    assert (await site.only()).cause == reasons.REQUEUED


async def test_one_that_has_ended_is_run_again_under_its_number() -> None:
    site = await placed()
    site.slurm.change_job("1", state="NODE_FAIL")
    await site.create(3, "n3")
    assert ("requeue 1 n3" in site.slurm.calls, site.papers.written) == (True, {1: (1, 3)})


async def test_one_that_was_cancelled_is_followed_by_another() -> None:
    site = await placed()
    site.slurm.change_job("1", state="CANCELLED")
    await site.create(3)
    assert [submission.comment.rsplit(":", 1)[1] for submission in site.slurm.submissions] == ["1", "3"]


# Restarts, the attempts that are written down, the placement and whether the run is over.
RUNS: dict[str, tuple[int, tuple[int, ...], tuple[int, bool]]] = {
    "its first run": (0, (1,), (1, False)),
    "its first run before anything is written": (0, (), (1, False)),
    "its second run": (1, (1, 3), (3, False)),
    "between its first and its second": (1, (1,), (1, True)),
    "a run that nobody asked for": (2, (1, 3), (3, True)),
}


@pytest.mark.parametrize("case", RUNS)
def test_a_batch_job_is_seen_in(case: str) -> None:
    restarts, runs, (attempt, put_back) = RUNS[case]
    entry = entry_of(1, SlurmJob(id="1", state="PENDING", restarts=restarts), runs)
    assert (entry.attempt, entry.put_back) == (attempt, put_back)


def test_runs_that_nobody_asked_for_are_passed_over() -> None:
    assert with_run((1, 3), 4, 5) == (1, 3, 5, 5, 5)
