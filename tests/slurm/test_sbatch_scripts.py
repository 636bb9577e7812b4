"""hedgerow sbatch on five real scripts: a rank that really hangs is found, and the script knows nothing of it.

torchrun is a stand-in: a program of this name that starts the ranks of its node. The ranks of pmi2 speak it first.
"""

import pytest

from tests.slurm.sbatch_parts.played import played_hanging
from tests.slurm.sbatch_parts.scripts import SCRIPTS
from tests.slurm.sbatch_parts.submitting import Case
from tests.slurm.testbed.testbed import Testbed

# All of them are played before the first is looked at.
pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def cases(slurm: Testbed) -> dict[str, Case]:
    """All of them."""
    return played_hanging(slurm)


def test_what_is_printed_is_what_sbatch_prints(cases: dict[str, Case]) -> None:
    assert {case.said for case in cases.values()} == {"Submitted batch job"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_stall_is_healed_and_the_script_goes_on_as_if_nothing_had_been(name: str, cases: dict[str, Case]) -> None:
    case = cases[name]
    assert "after 0" in case.output, case.output
    assert case.lives(1) == case.lives(2) == case.ended == {0, 1}
    assert not case.lines("twice")
    assert {int(first) for attempt, _, first, _ in case.lines("lives") if attempt == "2"} == {30}
    assert case.ended_as == "COMPLETED"


def test_ranks_that_speak_pmi2_are_started_by_an_srun_anew(cases: dict[str, Case]) -> None:
    assert cases["pmi2"].output.count("rank 1 of 2 node-n") == 2


def test_each_task_of_an_array_is_healed_by_itself(cases: dict[str, Case]) -> None:
    case = cases["array"]
    assert case.output.count("after 0 of 2") == 2, case.output
    for task in ("0", "1"):
        assert case.lines(f"{task}/ended").__len__() == 2
        assert not case.lines(f"{task}/twice")
        assert {line[0] for line in case.lines(f"{task}/lives")} == {"1", "2"}


def test_nothing_of_any_of_them_is_left_and_no_rank_ever_lived_twice(cases: dict[str, Case]) -> None:
    assert {name: case.left for name, case in cases.items() if case.left} == {}
    assert [name for name, case in cases.items() if case.lines("twice")] == []


def test_the_output_has_few_lines_of_ours(cases: dict[str, Case]) -> None:
    lines = cases["plain"].output.splitlines()
    ours = [line for line in lines if line.startswith("hedgerow:")]
    assert [line for line in lines if line not in ours] == ["before", "after 0"]
    assert len(ours) <= 4, ours
