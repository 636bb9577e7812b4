"""How a run ended: success is durable, and cancelled, timed out, failed and cut off are told apart."""

import pytest

from hedgerow.logs import observation as says
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.endings import Note, Outcome, conclude


def note(ending: str, text: str = "", rank: int | None = None) -> Note:
    return Note(ending=ending, text=text, rank=rank)


SUCCESS = note(says.SUCCESS)
TIME_LIMIT = note(says.TIME_LIMIT, "*** JOB 7 ON n1 CANCELLED AT 12:00 DUE TO TIME LIMIT ***")
CANCELLED = note(says.CANCELLED, "*** STEP 7.1 ON n1 CANCELLED AT 12:00 ***")
SIGTERM = [note(says.TERMINATED, "Received SIGTERM: 15", rank) for rank in range(4)]
ABORTED = note(says.EXIT, "Exited with exit code 134")
DEVICE = note(says.DEVICE_ERROR, "CUDA error: unknown error", 3)


def everywhere(text: str) -> list[Note]:
    return [note(says.EXCEPTION, text, rank) for rank in range(4)]


CASES: dict[str, tuple[list[Note], Outcome, str]] = {
    "a job that said success": ([SUCCESS], Outcome.SUCCEEDED, "AllRanksFinished"),
    "a time limit after success": ([SUCCESS, TIME_LIMIT], Outcome.SUCCEEDED, "AllRanksFinished"),
    "exit code 134 after success": ([SUCCESS, ABORTED], Outcome.SUCCEEDED, "AllRanksFinished"),
    "exit code 134 after training": ([note(says.TRAINED), ABORTED], Outcome.SUCCEEDED, "AllRanksFinished"),
    "a time limit after training": ([note(says.TRAINED), TIME_LIMIT], Outcome.SUCCEEDED, "AllRanksFinished"),
    "an exception after training": (
        [note(says.TRAINED), *everywhere("ValueError: x")], Outcome.FAILED, "ApplicationFault"),
    "a run below its target": ([note(says.TARGET_MISSED)], Outcome.SUCCEEDED, "TargetNotReached"),
    "a time limit": ([TIME_LIMIT, *SIGTERM], Outcome.TIMED_OUT, "TimeLimitReached"),
    "a time limit whose signals are printed first": ([*SIGTERM, TIME_LIMIT], Outcome.TIMED_OUT, "TimeLimitReached"),
    "a cancellation": ([CANCELLED, *SIGTERM], Outcome.CANCELLED, "Cancelled"),
    "a cancellation that ranks answer with exceptions": (
        [CANCELLED, *everywhere("RuntimeError: interrupted")], Outcome.CANCELLED, "Cancelled"),
    "signals alone": (SIGTERM, Outcome.CANCELLED, "Cancelled"),
    "a preemption": ([note(says.PREEMPTED, "DUE TO PREEMPTION")], Outcome.CANCELLED, "Preempted"),
    "an exception that Slurm cleans up after": (
        [note(says.EXCEPTION, "ValueError: x", 1), CANCELLED], Outcome.FAILED, "RankExited"),
    "the same exception on all ranks": (everywhere("ValueError: x"), Outcome.FAILED, "ApplicationFault"),
    "a device error": ([DEVICE], Outcome.FAILED, "RankExited"),
    "an exit code alone": ([ABORTED], Outcome.FAILED, "RankExited"),
    "no word": ([], Outcome.TRUNCATED, "NotFinished"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_outcome_of(case: str) -> None:
    notes, outcome, reason = CASES[case]
    ended = conclude(notes, progressed=True)
    assert (ended.outcome, ended.reason) == (outcome, reason)


def test_nothing_at_all_is_unknown() -> None:
    assert conclude([], progressed=False).outcome is Outcome.UNKNOWN


def test_the_last_step_of_all_is_success_unless_a_failure_follows() -> None:
    assert conclude([], progressed=True, reached_last_step=True).outcome is Outcome.SUCCEEDED
    assert conclude([DEVICE], progressed=True, reached_last_step=True).outcome is Outcome.FAILED


FAULTS: dict[str, tuple[list[Note], FaultClass, tuple[int, ...], bool]] = {
    "the same exception on all ranks names nobody, and a restart cannot help": (
        everywhere("ValueError: x"), FaultClass.APPLICATION, (), True),
    "ranks in the words do not make exceptions different": (
        [note(says.EXCEPTION, f"ValueError: bad batch on rank {rank}", rank) for rank in range(4)],
        FaultClass.APPLICATION, (), True),
    "one rank's exception names it": ([note(says.EXCEPTION, "KeyError: 'x'", 2)], FaultClass.APPLICATION, (2,), False),
    "a lost connection is a consequence of another's failure": (
        [note(says.EXCEPTION, "RuntimeError: Connection closed by peer", 0), note(says.EXCEPTION, "KeyError: 'x'", 2)],
        FaultClass.APPLICATION, (2,), False),
    "a stale file handle is storage": (
        [note(says.EXCEPTION, "OSError: [Errno 116] Stale file handle", 1)], FaultClass.STORAGE, (1,), False),
    "a device error names its rank, whatever the others say": (
        [*everywhere("RuntimeError: NCCL error"), DEVICE], FaultClass.HARDWARE, (3,), False),
    "memory that runs out is the program's": (
        [note(says.OUT_OF_MEMORY, "CUDA out of memory", 1)], FaultClass.APPLICATION, (1,), False),
}


@pytest.mark.parametrize("case", FAULTS)
def test_that(case: str) -> None:
    notes, fault_class, ranks, hopeless = FAULTS[case]
    ended = conclude(notes, progressed=True, ranks=4)
    assert (ended.fault_class, ended.ranks, ended.hopeless) == (fault_class, ranks, hopeless)


def test_the_same_exception_on_some_of_many_ranks_is_not_yet_everyones() -> None:
    assert not conclude(everywhere("ValueError: x"), progressed=True, ranks=64).hopeless
