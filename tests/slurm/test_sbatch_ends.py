"""hedgerow sbatch where its batch job ends before the script does: another goes on, or none, and never two at once."""

import pytest

from tests.slurm.sbatch_parts.played import played_ending
from tests.slurm.sbatch_parts.scripts import LOST
from tests.slurm.sbatch_parts.submitting import Case
from tests.slurm.testbed.testbed import Testbed

# All of them are played before the first is looked at.
pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def cases(slurm: Testbed) -> dict[str, Case]:
    """All of them."""
    return played_ending(slurm)


@pytest.mark.parametrize("name", ["node lost", "batch host lost", "time limit", "bad node", "supervisor killed"])
def test_the_next_batch_job_goes_on_from_the_checkpoint(name: str, cases: dict[str, Case]) -> None:
    case = cases[name]
    assert case.output.count("run 0") == case.output.count("run 1") == case.output.count("after 0") == 1, case.output
    assert case.ended == {0, 1}
    assert not case.lines("twice")
    *_, (_, _, first, _) = case.lines("lives")
    assert int(first) > 0


@pytest.mark.parametrize("name", ["node lost", "batch host lost"])
def test_it_is_elsewhere_than_the_node_that_was_lost(name: str, cases: dict[str, Case]) -> None:
    lives = cases[name].lines("lives")
    assert LOST in {node for _, _, _, node in lives[:2]}
    assert LOST not in {node for _, _, _, node in lives[2:]}


def test_a_batch_job_that_ends_before_a_step_is_nobodys_fault(cases: dict[str, Case]) -> None:
    case = cases["killed before a step"]
    assert "run 1" in case.output, case.output
    assert case.ended == {0, 1}
    assert case.output.count("after 0") == 1
    assert case.job("train").status.restarts_counted == 0
    assert "maxRestarts" not in case.news


def test_a_job_that_may_not_be_restarted_fails_the_script_of_the_next_batch_job(cases: dict[str, Case]) -> None:
    case = cases["given up"]
    assert "run 1" in case.output, case.output
    assert "after 1" in case.output
    assert case.ended == set()
    assert case.lives(2) == set()
    assert "recovery.maxRestarts (0) is reached" in case.news


def test_the_time_limit_is_no_failure(cases: dict[str, Case]) -> None:
    case = cases["time limit"]
    assert case.lives(1) == case.lives(2) == {0, 1}
    assert "the time limit is near" in case.output
    assert case.ended_as in ("FAILED", "TIMEOUT")  # before its limit; on a busy machine with it
    job = case.job("train")
    ends = [(entry.reason, entry.counted) for entry in job.status.history]
    assert set(ends) == {("TimeLimitReached", False)}
    assert (job.status.restarts_counted, job.status.restarts) == (0, len(ends))


def test_a_node_on_which_ranks_die_again_and_again_is_left_for_the_next_batch_job(cases: dict[str, Case]) -> None:
    case = cases["bad node"]
    ((bad,),) = case.lines("bad-node")
    nodes = [node for _, rank, _, node in case.lines("lives") if rank == "1"]
    assert nodes[-1] != bad
    assert set(nodes[:-1]) == {bad}
    assert f"without {bad}" in case.output


def test_with_a_node_to_spare_it_is_left_within_the_batch_job(cases: dict[str, Case]) -> None:
    case = cases["spare node"]
    ((bad,),) = case.lines("bad-node")
    assert "run 1" not in case.output, case.output
    assert "after 0" in case.output
    assert bad not in {node for _, _, _, node in case.lines("lives")[-2:]}
    assert case.ended_as == "COMPLETED"


def test_what_the_user_has_cancelled_does_not_run_again(cases: dict[str, Case]) -> None:
    case = cases["cancelled"]
    assert case.lives(1) == {0, 1}
    assert case.lives(2) == case.ended == set()
    assert case.output.count("run 0") == 1
    assert "run 1" not in case.output
    assert case.ended_as == "CANCELLED"


def test_without_a_successor_nothing_waits(cases: dict[str, Case]) -> None:
    case = cases["alone"]
    assert case.ended == {0, 1}
    assert "successor" not in case.output
    (chain,) = case.state.glob("*-*/chain.json")
    assert '"successor": ""' in chain.read_text()


def test_where_no_job_may_submit_another_it_says_so_and_goes_on(cases: dict[str, Case]) -> None:
    case = cases["refused"]
    assert case.ended == {0, 1}
    assert case.output.count("hedgerow: no batch job could be submitted that goes on after this one") == 1
    assert "Access/permission denied" in case.output


def test_a_job_that_slurm_itself_requeues_goes_on_in_its_next_run(cases: dict[str, Case]) -> None:
    case = cases["requeued"]
    assert "run 1" in case.output, case.output
    assert "after 0" in case.output
    assert case.ended == {0, 1}
    assert not case.lines("twice")
    assert int(case.lines("lives")[-1][2]) > 0
    assert case.ended_as == "COMPLETED"


def test_a_node_without_which_there_is_no_room_is_not_left(cases: dict[str, Case]) -> None:
    case = cases["no room"]
    assert "train stays on n4: " in case.output
    assert case.output.count("after") == 1
    assert "run 1" not in case.output
    assert case.ended_as == "FAILED"


def test_where_the_supervisor_cannot_work_the_script_runs_as_under_sbatch(cases: dict[str, Case]) -> None:
    case = cases["no address"]
    assert case.output.count("hedgerow: the script runs unwatched") == 1, case.output
    assert "Traceback" not in case.output
    assert case.ended == case.lives(0) == {0, 1}
    assert case.ended_as == "COMPLETED"


def test_nothing_of_any_of_them_is_left_and_no_rank_ever_lived_twice(cases: dict[str, Case]) -> None:
    assert {name: case.left for name, case in cases.items() if case.left} == {}
    assert [name for name, case in cases.items() if case.lines("twice")] == []
