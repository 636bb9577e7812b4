"""What a launcher says of ranks that do not move: states, wait channels, stacks that name the line, last words."""

from __future__ import annotations

import os
import signal

import pytest

from hedgerow import wire
from tests.launcher.launching import Launch, begin, python
from tests.launcher.operator_double import OperatorDouble

STUCK_IN_A_LOCK = """
import threading, hedgerow
def wait_for_the_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()  # the line that hangs
hedgerow.beat(step=1)
hedgerow.beat(step=2)
wait_for_the_lock()
"""
HOLDS_THE_INTERPRETER = """
import ctypes, hedgerow
def deadlock_in_c():
    mutex = ctypes.create_string_buffer(64)
    for _ in range(2):
        ctypes.PyDLL(None).pthread_mutex_lock(mutex)
hedgerow.beat(step=1)
hedgerow.beat(step=2)
deadlock_in_c()
"""
BUSY = """
import hedgerow
hedgerow.beat(step=1)
hedgerow.beat(step=2)
while True:
    pass
"""
WITHOUT_PYTHON = ("sleep", "60")
DEADLINES = {wire.PHASE_INIT: 1.0, wire.PHASE_FIRST_STEP: 1.0, wire.PHASE_STEP: 1.0}


def is_still(rank: wire.RankReport) -> bool:
    return (rank.activity.stack_unchanged_seconds or 0) > 0.5 and (rank.activity.io_idle_seconds or 0) > 1


@pytest.mark.parametrize(
    ("script", "place"),
    [(STUCK_IN_A_LOCK, "in wait_for_the_lock"), (HOLDS_THE_INTERPRETER, "in deadlock_in_c")],
    ids=["stuck in a lock", "holding the interpreter lock"],
)
def test_a_stack_names_where_a_rank_hangs(launch: Launch, operator: OperatorDouble, script: str, place: str) -> None:
    operator.deadlines = DEADLINES
    operator.command(begin())
    launch(*python(script))
    rank = operator.wait_for_rank(is_still)
    assert place in (rank.stack or "")
    assert (rank.step, rank.phase) == (2, wire.PHASE_STEP)
    assert (rank.progress_age or 0) > 1.0
    assert rank.activity.process_state == "S"
    assert rank.activity.wait_channel
    idle = operator.wait_for_rank(lambda r: (r.activity.idle_seconds or 0) > 2)
    assert (idle.activity.io_idle_seconds or 0) > 1, "taking stacks must not look like the rank's own output"


def test_a_busy_rank_is_not_idle(launch: Launch, operator: OperatorDouble) -> None:
    operator.deadlines = DEADLINES
    operator.command(begin())
    launch(*python(BUSY))
    rank = operator.wait_for_rank(lambda r: (r.progress_age or 0) > 4)
    assert (rank.activity.idle_seconds or 0) < 2
    assert (rank.activity.cpu_seconds or 0) > 0.2, "a share of a machine that others may use too"


def test_no_stack_is_taken_of_a_healthy_rank(launch: Launch, operator: OperatorDouble) -> None:
    operator.deadlines = {wire.PHASE_STEP: 60.0, wire.PHASE_FIRST_STEP: 60.0}
    operator.command(begin())
    launch(*python(STUCK_IN_A_LOCK))
    rank = operator.wait_for_rank(lambda r: (r.progress_age or 0) > 1.5)
    assert rank.stack is None


def test_a_dump_brings_stacks_before_any_deadline(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(STUCK_IN_A_LOCK))
    operator.wait_for_rank(lambda r: r.step == 2)
    operator.command(wire.Command(wire.COMMAND_DUMP, 1))
    assert "in wait_for_the_lock" in (operator.wait_for_rank(lambda r: r.stack).stack or "")


def test_a_stopped_rank_is_seen_as_stopped_and_killed(launch: Launch, operator: OperatorDouble) -> None:
    operator.deadlines = DEADLINES
    operator.command(begin())
    launch(*python(STUCK_IN_A_LOCK))
    pid = operator.wait_for_rank(lambda r: r.step == 2).pid or 0
    os.kill(pid, signal.SIGSTOP)
    operator.wait_for_rank(lambda r: r.activity.process_state == "T")
    operator.wait_for_rank(lambda r: (r.progress_age or 0) > 3)
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True))
    operator.wait_for(lambda r: r.stage == wire.STAGE_STOPPED)


def test_a_process_without_a_handler_is_left_alone(launch: Launch, operator: OperatorDouble) -> None:
    operator.deadlines = DEADLINES
    operator.command(begin())
    launch(*WITHOUT_PYTHON)
    rank = operator.wait_for_rank(lambda r: (r.progress_age or 0) > 3)
    assert (rank.state, rank.stack, rank.source) == (wire.RANK_STARTING, None, None)


def test_the_last_lines_explain_an_exit(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launcher = launch(*python("for n in range(50): print('line', n)\nraise SystemExit('out of cheese')"))
    report = operator.wait_for(lambda r: r.stage == wire.STAGE_STOPPED)
    rank = report.ranks[0]
    assert (rank.state, rank.exit_code, rank.exit_signal) == (wire.RANK_EXITED, 1, None)
    assert rank.output_tail[-2:] == ["line 49", "out of cheese"] or "out of cheese" in rank.output_tail
    assert len(rank.output_tail) == 20
    assert report.stop_cause == wire.STOP_ENDED
    assert launcher.out.splitlines() == [f"line {n}" for n in range(50)]


def test_a_command_that_cannot_be_started_is_reported_as_one(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch("no-such-program")
    rank = operator.wait_for(lambda r: r.stage == wire.STAGE_STOPPED).ranks[0]
    assert (rank.state, rank.exit_code) == (wire.RANK_EXITED, 127)
    assert "'no-such-program' cannot be started" in rank.output_tail[0]
