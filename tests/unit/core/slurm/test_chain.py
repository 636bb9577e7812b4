"""Batch jobs that follow one another: which of them goes on."""

import pytest
from msgspec.structs import replace

from hedgerow_operator.core.slurm.chain import (
    MOST_FRUITLESS,
    Chain,
    End,
    Turn,
    end_of_script,
    number_of,
    turn,
    why_over,
)
from hedgerow_operator.core.slurm.seen import SlurmJob

NOW = 1_000_000.0


def ended(state: str, *flags: str) -> SlurmJob:
    """The batch job before, as Slurm shows it."""
    return SlurmJob(id="7", state=state, flags=frozenset(flags))


def chain(**told: object) -> Chain:
    """One batch job that has begun, and what it says of itself."""
    return Chain().begun("7").told(**{"stepped": True, **told})


TURNS = {
    "the first batch job begins": (Chain(), None, Turn.GO_ON),
    "while the one before runs, nothing is started": (chain(), ended("RUNNING"), Turn.WAIT),
    "while the one before is ending, nothing is started": (chain(), ended("NODE_FAIL", "COMPLETING"), Turn.WAIT),
    "while the one before is requeued, nothing is started": (chain(), ended("PENDING"), Turn.WAIT),
    "after a lost node it goes on": (chain(), ended("NODE_FAIL"), Turn.GO_ON),
    "after the time limit it goes on": (chain(), ended("TIMEOUT"), Turn.GO_ON),
    "after preemption it goes on": (chain(), ended("PREEMPTED"), Turn.GO_ON),
    "after a supervisor that was killed it goes on": (chain(), ended("FAILED"), Turn.GO_ON),
    "what a user has cancelled does not go on": (chain(), ended("CANCELLED"), Turn.END),
    "what has come to its deadline does not go on": (chain(), ended("DEADLINE"), Turn.END),
    "one that handed over and was cancelled while it ended goes on": (
        chain(end=End.HANDED_OVER), ended("CANCELLED"), Turn.GO_ON),
    "a script that has succeeded is not run again": (chain(end=End.SUCCEEDED), ended("NODE_FAIL"), Turn.END),
    "a script that has failed is not run again": (chain(end=End.FAILED), ended("FAILED"), Turn.END),
    "what was seen to be cancelled does not go on, though Slurm has forgotten it": (
        chain(end=End.CANCELLED), None, Turn.END),
    "one that Slurm has forgotten is gone": (chain(), None, Turn.GO_ON),
    "one that wrote that it has ended is waited for": (chain(end=End.TIME_LIMIT), ended("RUNNING"), Turn.WAIT),
}  # fmt: skip


@pytest.mark.parametrize("sentence", TURNS)
def test_turn(sentence: str) -> None:
    before, seen, expected = TURNS[sentence]
    assert turn(before, seen, NOW).turn is expected


def fruitless(count: int) -> Chain:
    """So many batch jobs in a row that did no step."""
    made = Chain()
    for number in range(count):
        made = made.begun(str(number))
    return made


def test_after_several_batch_jobs_without_a_step_no_more_follow() -> None:
    decision = turn(fruitless(MOST_FRUITLESS), ended("FAILED"), NOW)
    assert (decision.turn, decision.exit_code) == (Turn.END, 1)
    assert "3 batch jobs in a row" in decision.why
    assert turn(fruitless(MOST_FRUITLESS - 1), ended("FAILED"), NOW).turn is Turn.GO_ON


def test_those_that_were_preempted_count_for_nothing() -> None:
    assert turn(fruitless(MOST_FRUITLESS), ended("PREEMPTED"), NOW).turn is Turn.GO_ON


def test_a_step_in_between_begins_the_count_anew() -> None:
    made = fruitless(MOST_FRUITLESS).told(stepped=True).begun("x")
    assert made.newest is not None
    assert made.newest.fruitless == 1


def test_the_exit_code_of_a_script_that_has_failed_is_that_of_whatever_runs_after_it() -> None:
    assert turn(chain(end=End.FAILED, exit_code=3), ended("FAILED"), NOW).exit_code == 3


def test_each_run_has_a_name_of_its_own_though_numbers_come_again() -> None:
    made = Chain().begun("7").begun("8").begun("7").begun("7")
    assert [entry.run for entry in made.runs] == ["7", "8", "7#1", "7#2"]
    assert {number_of(entry.run) for entry in made.runs} == {"7", "8"}


ENDS = {
    "a script that ends with 0 has succeeded": (0, False, ended("RUNNING"), End.SUCCEEDED),
    "one that ends otherwise has failed": (3, False, ended("RUNNING"), End.FAILED),
    "one that fails while Slurm cannot be asked has failed": (3, False, None, End.FAILED),
    "one that fails while its job loses a node is judged by the next": (1, False, ended("NODE_FAIL"), End.NOT_YET),
    "one that is told to end, and saves and ends with 0, has not finished": (
        0, True, ended("PREEMPTED", "COMPLETING"), End.NOT_YET),
    "one that is told to end by a cancellation is cancelled": (
        143, True, ended("CANCELLED", "COMPLETING"), End.CANCELLED),
    "why it is told to end is not always seen yet": (143, True, ended("COMPLETING", "COMPLETING"), End.NOT_YET),
}  # fmt: skip


@pytest.mark.parametrize("sentence", ENDS)
def test_end_of_script(sentence: str) -> None:
    code, terminated, own, expected = ENDS[sentence]
    assert end_of_script(code, terminated, own, NOW) is expected


OVERS = {
    "it runs": (ended("RUNNING"), 0, False),
    "it is prepared": (ended("CONFIGURING"), 0, False),
    "nobody knows how it is": (ended("NEWLY_INVENTED"), 0, False),
    "it has lost a node": (ended("NODE_FAIL"), 0, True),
    "it is being ended": (ended("NODE_FAIL", "COMPLETING"), 0, True),
    "it was put back": (ended("PENDING"), 0, True),
    "it runs anew": (replace(ended("RUNNING"), restarts=1), 0, True),
    "it has run anew before this supervisor began": (replace(ended("RUNNING"), restarts=1), 1, False),
    "it is forgotten": (None, 0, True),
}


@pytest.mark.parametrize("sentence", OVERS)
def test_whether_a_batch_job_is_over_for_slurm_though_its_supervisor_lives(sentence: str) -> None:
    own, restarts, over = OVERS[sentence]
    assert bool(why_over(own, restarts, NOW)) is over
