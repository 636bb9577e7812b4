"""Who is guilty of a hang, from simulated jobs that stop in known places."""

import pytest

from hedgerow_operator.core.attribution.fault_class import Confidence, FaultClass
from hedgerow_operator.core.attribution.recorder.verdict import judge_dumps
from tests.unit.attribution.simulated import Job

GUILTY = {
    "one rank of a tensor group": (Job(2, 2, 2, {5: 7}), (5,)),
    "the first rank, before its first operation": (Job(2, 2, 2, {0: 0}), (0,)),
    "a rank of the last stage of a pipeline": (Job(2, 1, 4, {7: 6}), (7,)),
    "a rank of the first stage, whom the whole pipeline waits for": (Job(1, 2, 4, {1: 6}), (1,)),
    "two ranks of different tensor groups": (Job(4, 4, 4, {9: 9, 14: 9}), (9, 14)),
    "a job of data parallel ranks only": (Job(1, 8, 1, {3: 5}), (3,)),
}


@pytest.mark.parametrize(("job", "guilty"), GUILTY.values(), ids=GUILTY)
def test_whoever_stops_is_guilty_and_all_others_are_victims(job: Job, guilty: tuple[int, ...]) -> None:
    verdict = judge_dumps(job.dumps())

    assert verdict.guilty == guilty
    assert verdict.victims == tuple(rank for rank in range(job.world) if rank not in guilty)
    assert verdict.fault_class is FaultClass.APPLICATION
    assert verdict.confidence is Confidence.CERTAIN
    assert verdict.collective is not None
    assert set(verdict.collective["missing"]) <= set(guilty)


@pytest.mark.parametrize(("job", "guilty"), GUILTY.values(), ids=GUILTY)
def test_whoever_stops_and_leaves_no_dump_is_guilty(job: Job, guilty: tuple[int, ...]) -> None:
    verdict = judge_dumps(job.dumps(without=guilty))

    assert verdict.guilty == guilty
    assert verdict.fault_class is FaultClass.UNKNOWN
    assert verdict.confidence is Confidence.LIKELY


def test_the_later_of_two_stopped_ranks_is_a_victim_of_the_first_if_it_waits() -> None:
    # Rank 3 would stop after 12 operations and never gets so far.
    assert judge_dumps(Job(2, 2, 2, {6: 2, 3: 12}).dumps()).guilty == (6,)


def test_the_group_told_is_where_it_began() -> None:
    verdict = judge_dumps(Job(4, 2, 2, {6: 1}).dumps())

    assert verdict.group == "TENSOR"
    assert verdict.collective is not None
    assert verdict.collective["ranks"] == [4, 5, 6, 7]


def test_when_every_rank_joined_the_fabric_is_suspect_and_nobody_is_guilty() -> None:
    job = Job(2, 2, 2, broken=frozenset({"0"}))

    verdict = judge_dumps(job.dumps())

    assert (verdict.guilty, verdict.victims) == ((), tuple(range(8)))
    assert verdict.fault_class is FaultClass.NETWORK
    assert verdict.group == "default_pg"


def test_ranks_that_stand_in_a_group_that_all_of_them_joined_are_not_guilty_for_what_they_did_not_reach() -> None:
    job = Job(2, 2, 2, broken=frozenset({"1"}), ahead=2)

    verdict = judge_dumps(job.dumps())

    assert (verdict.guilty, verdict.fault_class, verdict.group) == ((), FaultClass.NETWORK, "TENSOR")


def test_a_job_that_does_not_stand_still_has_no_victims() -> None:
    verdict = judge_dumps(Job(2, 2, 2).dumps())

    assert (verdict.guilty, verdict.victims, verdict.group) == ((), (), None)
    assert verdict.fault_class is FaultClass.UNKNOWN


def test_no_dumps_at_all_name_nobody() -> None:
    assert judge_dumps([]).guilty == ()
