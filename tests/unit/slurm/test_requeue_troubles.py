"""A batch job that is requeued, and what may come between the end of one run and the attempt of the next."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import ExcludedNode, Stopping
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.slurm.comments import comment_of_run
from hedgerow_operator.core.step import GATHERING, PLACING, REMOVING, RUNNING, SUSPENDED
from hedgerow_operator.reconcile.ports import Refused, TooTight, Unreachable
from tests.unit.core.builders import UID
from tests.unit.slurm.pretended_cluster import LOST, Site

ASKED = ("submit", "cancel", "requeue", "avoid", "comment")


def spec(job: TrainingJob, workers: int = 2, **slurm: Any) -> TrainingJob:
    assert job.spec.slurm is not None
    changed = msgspec.structs.replace(job.spec.slurm, **slurm)
    return msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, slurm=changed, workers=workers))


def asked(site: Site) -> list[str]:
    """What was asked of Slurm since."""
    return [call for call in site.slurm.calls if call.split()[0] in ASKED]


async def between(by_comment: bool = False, workers: int = 2, **shown: Any) -> Site:
    """Its batch job ran as attempt 1 on n1 and n3, and waits for its second run, to be attempt 3 without n3."""
    bad = ExcludedNode(name="n3", reason=reasons.NO_PROGRESS, until="2027-01-02T00:00:00Z")
    plan = Stopping(action="NewPlacement", reason=reasons.NO_PROGRESS, since="2027-01-01T00:00:00Z")
    site = Site(excluded_nodes=(bad,))
    site.papers.by_comment = by_comment
    site.job = spec(site.job, workers, resubmit="Requeue")
    await site.create()
    site.slurm.starts("1", "n1", "n3")
    site.stage(RUNNING)
    await site.look()
    site.stage(REMOVING, stopping=plan)
    await site.runtime.remove(site.job, 1, ())
    site.slurm.change_job("1", **{"state": "PENDING", "nodes": (), "restarts": 1, "reason": "BeginTime", **shown})
    await site.look()
    await site.look()
    site.stage(PLACING, stopping=None, attempt=3, placement=3)
    site.slurm.calls.clear()
    return site


async def told(site: Site) -> Site:
    """Likewise, and it has been told."""
    await site.create(3, "n3")
    site.stage(GATHERING)
    await site.look()
    return site


async def test_it_avoids_the_suspect_also_where_the_one_who_put_it_back_died_before_saying_so() -> None:
    site = await between()
    site.begin()
    await site.create(3, "n3")
    assert (asked(site), site.papers.written) == (["avoid 1 n3"], {1: (1, 3)})


async def test_one_that_has_begun_on_the_suspect_too_early_is_put_back_once_more() -> None:
    site = await between(state="RUNNING", nodes=("n1", "n3"))
    with pytest.raises(Unreachable, match="has not ended"):
        await site.create(3, "n3")
    assert (asked(site), site.papers.written) == (["requeue 1 n3"], {1: (1,)})


async def test_one_that_has_begun_elsewhere_is_told_its_attempt_where_it_is() -> None:
    site = await between(state="RUNNING", nodes=("n1", "n2"))
    await site.create(3, "n3")
    assert (asked(site), site.papers.written) == ([], {1: (1, 3)})


async def test_while_too_few_nodes_are_left_it_is_told_nothing_and_goes_on_once_the_exclusion_is_given_back() -> None:
    site = await between(workers=4)
    with pytest.raises(TooTight, match="needs 4 nodes"):
        await site.create(3, "n3")
    assert (asked(site), site.papers.written) == ([], {1: (1,)})
    await site.create(3)
    assert (asked(site), site.papers.written) == (["avoid 1 "], {1: (1, 3)})


async def test_where_too_few_would_be_left_it_is_put_back_without_exclusions() -> None:
    site = await between()
    site.job = spec(site.job, workers=4)
    site.slurm.change_job("1", state="RUNNING", restarts=0, nodes=("n1", "n2", "n3", "n4"))
    site.stage(REMOVING, attempt=1, placement=1)
    await site.runtime.remove(site.job, 1, ())
    assert asked(site) == ["requeue 1 "]


async def test_a_run_that_has_not_begun_is_removed_by_doing_nothing_and_begins_as_what_is_placed_next() -> None:
    site = await told(await between())
    site.stage(REMOVING)
    before = asked(site)
    await site.runtime.remove(site.job, 3, ())
    assert (await site.look(), asked(site)) == ((), before)
    site.stage(PLACING)
    assert await site.look() == ()
    await site.create(3, "n4")
    assert (asked(site)[len(before) :], site.papers.written) == (["avoid 1 n4"], {1: (1, 3)})
    assert (await site.only()).attempt == 3


async def test_it_is_kept_through_a_backoff_also_by_the_next_process() -> None:
    site = await between()
    for _ in range(3):
        site.begin()
        for placement in await site.look():
            await site.runtime.remove(site.job, placement.attempt, ())
    assert asked(site) == []


async def test_an_attempt_is_told_by_the_comment_and_again_where_a_controller_has_lost_it() -> None:
    comment = comment_of_run(UID, 1, 1, 3)
    site = await told(await between(by_comment=True))
    assert asked(site) == ["avoid 1 n3", f"comment 1 {comment}"]
    site.slurm.change_job("1", comment=f"hedgerow:{UID}:1")
    await site.look()
    assert (await site.only()).attempt == 3
    assert asked(site)[2:] == [f"comment 1 {comment}"]


async def test_an_answer_that_was_lost_leads_to_the_same_run() -> None:
    site = await between(by_comment=True)
    site.slurm.failures["comment"] = LOST
    with pytest.raises(Unreachable):
        await site.create(3, "n3")
    site.slurm.failures.clear()
    site.begin()
    await site.create(3, "n3")
    assert (len(site.slurm.submissions), site.papers.written) == (1, {1: (1, 3)})


@pytest.mark.parametrize("state", ["PENDING", "RUNNING"])
async def test_it_does_not_wait_on_for_a_job_that_is_suspended_meanwhile(state: str) -> None:
    site = await between(state=state)
    site.stage(SUSPENDED)
    await site.look()
    assert (asked(site), site.papers.cancelled) == (["cancel 1"], {"1"})


async def test_it_is_cancelled_before_a_new_job_where_the_manifest_says_so_meanwhile() -> None:
    site = await between()
    site.job = spec(site.job, resubmit="NewJob")
    with pytest.raises(Unreachable, match="has not ended"):
        await site.create(3, "n3")
    site.slurm.change_job("1", state="CANCELLED", flags=frozenset())
    await site.create(3, "n3")
    assert asked(site) == ["cancel 1", "submit"]


async def test_a_run_goes_on_as_its_attempt_where_the_manifest_says_new_job_meanwhile() -> None:
    site = await told(await between())
    site.job = spec(site.job, resubmit="NewJob")
    assert [placement.attempt for placement in await site.look()] == [3]


async def test_the_next_process_waits_too_for_a_silent_node_of_a_run_that_slurm_has_put_back() -> None:
    site = Site()
    site.job = spec(site.job, resubmit="Requeue")
    await site.create()
    site.slurm.starts("1", "n1", "n3")
    site.stage(RUNNING)
    site.stage(RUNNING, slurm=(await site.only()).slurm)
    site.slurm.silent.add("n3")
    site.slurm.change_job("1", state="RUNNING", nodes=("n1", "n2"), restarts=1)
    site.begin()
    site.stage(REMOVING, slurm=(await site.only()).slurm)
    await site.runtime.remove(site.job, 1, ())
    for _ in range(3):
        assert [worker.node for worker in (await site.only()).workers if worker.node_silent] == ["n3"]
    site.slurm.silent.clear()
    await site.look(20.0)
    await site.look(20.0)
    assert await site.look(20.0) == ()


@pytest.mark.parametrize("meanwhile", [{"state": "PENDING", "restarts": 1}, {"id": "7"}])
async def test_a_requeue_that_came_too_late_is_no_refusal(meanwhile: dict[str, Any]) -> None:
    site = await between(state="FAILED", restarts=0)
    site.slurm.failures["requeue"] = Refused("Job is pending execution for job 1")
    with pytest.raises(Refused, match="pending"):
        await site.create(3, "n3")

    async def too_late(job_id: str, excluded: Sequence[str]) -> None:
        site.slurm.change_job("1", **meanwhile)
        raise Refused("Job is pending execution for job 1")

    site.slurm.requeue = too_late  # type: ignore[method-assign]
    with pytest.raises(Unreachable, match="pending"):
        await site.create(3, "n3")


async def test_a_new_job_is_not_cancelled_for_runs_that_an_earlier_one_of_its_name_has_left_written() -> None:
    site = Site()
    site.papers.written = {1: (1,)}
    await site.create()
    site.begin()
    await site.create()
    assert asked(site) == ["submit"]
