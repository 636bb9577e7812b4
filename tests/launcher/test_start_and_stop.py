"""A gang starts when told, its ranks know their place, and it ends when told."""

from __future__ import annotations

import json
import signal
import time

from hedgerow import wire
from tests.launcher.launching import Launch, alive, begin, python, wait_until
from tests.launcher.operator_double import OperatorDouble

SHOW = """
import json, os, sys, time
names = ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
         "HEDGEROW_ATTEMPT", "HEDGEROW_RESUME_FROM", "PYTHONUNBUFFERED", "HEDGEROW_TOKEN_FILE", "MINE")
import hedgerow
print(json.dumps([{name: os.environ.get(name) for name in names}, hedgerow.attempt(), hedgerow.resume_from()]))
time.sleep(60)
"""
SLEEP = "import time; time.sleep(60)"
IGNORE_TERM = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf'); time.sleep(60)"
BEAT = """
import hedgerow, time
for step in range(1, 1000):
    hedgerow.beat(step=step)
    time.sleep(0.02)
"""


def running(report: wire.Report) -> bool:
    return report.stage == wire.STAGE_RUNNING


def stopped(report: wire.Report) -> bool:
    return report.stage == wire.STAGE_STOPPED


def test_the_first_report_proposes_a_port_a_secret_and_an_address(launch: Launch, operator: OperatorDouble) -> None:
    launch(*python(SLEEP))
    report = operator.wait_for(lambda report: True)
    assert report.stage == wire.STAGE_WAITING
    assert report.attempt == 0
    assert 1024 <= report.free_port < 32768
    assert len(report.nonce) == 32
    assert report.peer_address.startswith("127.0.0.1:")
    assert report.boot
    assert (report.job.uid, report.worker, report.workers) == ("uid-1", 0, 1)


def test_ranks_of_two_workers_get_their_place_in_the_world(launch: Launch, operator: OperatorDouble) -> None:
    launchers = [
        launch(
            *python(SHOW), worker=w, HEDGEROW_WORKERS="2", HEDGEROW_NPROC="2", HEDGEROW_TOKEN_FILE="/dev/null", MINE="x"
        )
        for w in (0, 1)
    ]
    for worker in (0, 1):
        operator.wait_for(lambda report: report.stage == wire.STAGE_WAITING, worker)
    for worker in (0, 1):
        operator.command(begin(3, resume_from="/ckpt/step-40", master_address="10.0.0.7"), worker=worker)
    seen = {}
    for worker, launcher in enumerate(launchers):
        operator.wait_for(running, worker)
        lines = wait_until(lambda launcher=launcher: len(launcher.out.splitlines()) == 2 and launcher.out.splitlines())
        for line in lines:
            variables, attempt, resume_from = json.loads(line)
            assert (attempt, resume_from) == (3, "/ckpt/step-40")
            assert (variables["GROUP_RANK"], variables["MASTER_ADDR"]) == (str(worker), "10.0.0.7")
            assert (variables["MASTER_PORT"], variables["PYTHONUNBUFFERED"]) == ("29400", "1")
            assert (variables["HEDGEROW_TOKEN_FILE"], variables["MINE"]) == (None, "x")
            seen[variables["RANK"]] = (variables["LOCAL_RANK"], variables["LOCAL_WORLD_SIZE"], variables["WORLD_SIZE"])
    assert seen == {"0": ("0", "2", "4"), "1": ("1", "2", "4"), "2": ("0", "2", "4"), "3": ("1", "2", "4")}


def test_an_attempt_without_a_checkpoint_has_no_resume_variable(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launcher = launch(*python(SHOW), HEDGEROW_RESUME_FROM="/stale")
    line = wait_until(lambda: launcher.out.strip())
    assert json.loads(line)[0]["HEDGEROW_RESUME_FROM"] is None


def test_beats_arrive_with_step_phase_source_and_durations(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(BEAT))
    report = operator.wait_for(lambda r: r.ranks and (r.ranks[0].step or 0) > 30)
    rank = report.ranks[0]
    assert (rank.state, rank.phase, rank.source) == (wire.RANK_RUNNING, wire.PHASE_STEP, "Library")
    assert rank.beats >= 31
    assert rank.step_seconds is not None
    assert 0.015 < rank.step_seconds < 2.0
    assert sum(report.durations[wire.PHASE_INIT].values()) == 1
    assert sum(report.durations[wire.PHASE_FIRST_STEP].values()) == 1
    assert sum(report.durations[wire.PHASE_STEP].values()) == rank.beats - 2


def test_kill_leaves_nothing_and_waits_for_no_grace(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(IGNORE_TERM), HEDGEROW_NPROC="2")
    report = operator.wait_for(lambda r: running(r) and all(rank.output_tail == ["deaf"] for rank in r.ranks), after=1)
    began = time.monotonic()
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True))
    end = operator.wait_for(stopped)
    took = time.monotonic() - began
    assert end.stop_cause == wire.STOP_COMMAND
    assert [rank.exit_signal for rank in end.ranks] == [signal.SIGKILL, signal.SIGKILL]
    assert not any(alive(rank.pid or 0) for rank in report.ranks)
    assert took < 10  # after TERM ranks have three times as long; on a quiet machine it takes a thirtieth


def test_a_command_that_cannot_be_started_is_told_with_how_long_ago_that_was(
    launch: Launch, operator: OperatorDouble
) -> None:
    operator.command(begin())
    launch("no-such-program", HEDGEROW_NPROC="2")
    rank = operator.wait_for_rank(lambda rank: (rank.exit_age or 0.0) >= 1.0)
    assert (rank.exit_code, "cannot be started" in rank.output_tail[-1]) == (127, True)


def test_a_rank_that_ignores_term_is_killed_when_grace_is_over(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(IGNORE_TERM))
    operator.wait_for(lambda r: running(r) and r.ranks[0].output_tail == ["deaf"])
    operator.command(wire.Command(wire.COMMAND_STOP, 1, grace_seconds=0.5))
    operator.wait_for(lambda r: r.stage == wire.STAGE_STOPPING)
    assert operator.wait_for(stopped).ranks[0].exit_signal == signal.SIGKILL


def test_a_new_attempt_starts_in_place_and_an_older_one_never(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin(1))
    launch(*python(SLEEP))
    first = operator.wait_for(running)
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True), begin(2))
    second = operator.wait_for(lambda r: running(r) and r.attempt == 2)
    assert first.launcher == second.launcher
    assert not alive(first.ranks[0].pid or 0)
    operator.command(wire.Command(wire.COMMAND_STOP, 2, kill=True), begin(1), begin(2))
    last = operator.wait_for(lambda r: stopped(r) and r.attempt == 2)
    later = operator.wait_for(lambda r: True, after=last.seq + 1)
    assert (later.stage, later.attempt) == (wire.STAGE_STOPPED, 2)


def test_finish_ends_the_launcher_with_the_code_that_it_is_given(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launcher = launch(*python(SLEEP))
    operator.wait_for(running)
    operator.command(wire.Command(wire.COMMAND_FINISH, 1, exit_code=7))
    assert launcher.wait() == 7


def test_a_signal_to_the_launcher_ends_the_ranks_and_is_reported(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launcher = launch(*python(SLEEP))
    report = operator.wait_for(running)
    launcher.process.send_signal(signal.SIGTERM)  # type: ignore[union-attr]
    assert launcher.wait() == 143
    assert operator.wait_for(stopped).stop_cause == wire.STOP_SIGNAL
    assert not alive(report.ranks[0].pid or 0)


TIDY = """
import signal, sys, time
def leave(*_):
    time.sleep(0.4)
    print("tidied up", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
time.sleep(60)
"""


def test_ranks_get_a_short_grace_too_when_the_launcher_is_asked_to_end(
    launch: Launch, operator: OperatorDouble
) -> None:
    operator.command(begin())
    launcher = launch(*python(TIDY), HEDGEROW_GRACE_SECONDS="2")
    operator.wait_for_rank(lambda rank: rank.output_tail == ["ready"])
    launcher.process.send_signal(signal.SIGTERM)  # type: ignore[union-attr]
    launcher.wait()
    assert "tidied up" in launcher.out
