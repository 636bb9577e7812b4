"""A command that starts the ranks itself: they are found, watched, told apart and ended through it."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from hedgerow import wire
from tests.launcher.launching import Launch, LauncherProcess, alive, begin, wait_until
from tests.launcher.operator_double import OperatorDouble

STARTER = Path(__file__).with_name("ranks_starter.py")

TRAIN = """
import hedgerow, os, sys, time
rank, fails = os.environ["RANK"], os.environ.get("FAILS")
print("rank", rank, "of", os.environ["WORLD_SIZE"], "at", os.environ["MASTER_PORT"], hedgerow.attempt(), flush=True)
for step in range(1, 1000):
    hedgerow.beat(step=step)
    if rank == os.environ.get("STOPS_AT_5") and step == 5:
        time.sleep(1000)
    if rank == fails and step == 5:
        raise ValueError("bad batch at rank " + rank)
    if step == int(os.environ.get("STEPS", "0")):
        break
    time.sleep(0.02)
"""


@pytest.fixture
def command(tmp_path: Path) -> tuple[str, ...]:
    """A stand-in for torchrun with a script, under the name that decides how it is started."""
    torchrun = tmp_path / "torchrun"
    torchrun.write_text(f'#!/bin/sh\nexec {sys.executable} {STARTER} "$@"\n')
    torchrun.chmod(0o755)
    (tmp_path / "train.py").write_text(TRAIN)
    return (str(torchrun), str(tmp_path / "train.py"))


def all_beat(report: wire.Report) -> bool:
    return len(report.ranks) > 0 and all(rank.beats for rank in report.ranks)


def stopped(report: wire.Report) -> bool:
    return report.stage == wire.STAGE_STOPPED


def pids(report: wire.Report) -> list[int]:
    return [rank.pid for rank in report.ranks if rank.pid is not None]


def starter_of(launcher: LauncherProcess) -> int:
    """The process of the command."""
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
    (found,) = [int(pid) for pid in children if "ranks_starter" in Path(f"/proc/{pid}/cmdline").read_text()]
    return found


def test_it_is_started_once_a_worker_and_its_ranks_are_found_and_beat(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...]
) -> None:
    launchers = [launch(*command, worker=w, HEDGEROW_WORKERS="2", HEDGEROW_NPROC="2") for w in (0, 1)]
    for worker in (0, 1):
        operator.command(begin(3, master_port=29411), worker=worker)
    for worker, launcher in enumerate(launchers):
        report = operator.wait_for(all_beat, worker)
        assert [(rank.rank, rank.local_rank, rank.source) for rank in report.ranks] == [
            (2 * worker, 0, "Library"),
            (2 * worker + 1, 1, "Library"),
        ]
        said = sorted(line for line in launcher.out.splitlines() if line.startswith("rank"))
        assert said == [f"rank {2 * worker + local} of 4 at 29411 3" for local in (0, 1)]
        assert [rank.output_tail for rank in report.ranks] == [[line] for line in said]
        assert all(alive(pid) for pid in pids(report))


def test_a_rank_that_stands_still_shows_its_own_stack(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...]
) -> None:
    operator.deadlines = {wire.PHASE_STEP: 0.5}
    operator.command(begin())
    launch(*command, HEDGEROW_NPROC="2", STOPS_AT_5="1")
    report = operator.wait_for(lambda r: len(r.ranks) == 2 and r.ranks[1].stack is not None)
    assert report.ranks[1].step == 5
    assert re.search(r'train.py", line \d+', report.ranks[1].stack or "")
    assert report.ranks[0].stack is None
    report = operator.wait_for(lambda r: (r.ranks[1].activity.idle_seconds or 0) > 0, after=report.seq)
    assert report.ranks[1].activity.process_state == "S"


def test_of_ranks_that_end_the_first_is_told_with_its_own_words(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...]
) -> None:
    operator.command(begin())
    launcher = launch(*command, HEDGEROW_NPROC="2", FAILS="1")
    report = operator.wait_for(stopped)
    follower, first = report.ranks
    assert first.exit_code == 1
    assert (first.exit_age or 0) > (follower.exit_age or 0) or follower.exit_signal == signal.SIGTERM
    assert first.output_tail[-1] == "ValueError: bad batch at rank 1"
    assert "ValueError" not in " ".join(follower.output_tail)
    assert "hedgerow: rank 1 ended with exit code 1" in launcher.err


def test_words_that_go_through_a_pipe_of_the_script_are_those_of_the_first_to_fail(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...], tmp_path: Path
) -> None:
    script = tmp_path / "train.sh"
    script.write_text(f"set -o pipefail\n{' '.join(command)} 2>&1 | tee log.txt\n")
    operator.command(begin())
    launch("bash", str(script), HEDGEROW_NPROC="2", HEDGEROW_PROCESSES="PerWorker", FAILS="1")
    follower, first = operator.wait_for(stopped).ranks
    assert first.exit_code == 1
    assert (first.exit_age or 0) > (follower.exit_age or 0) or follower.exit_signal == signal.SIGTERM
    assert "ValueError: bad batch at rank 1" in first.output_tail
    assert follower.output_tail == []


def test_a_run_that_ends_well_does_so_for_every_rank(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...]
) -> None:
    operator.command(begin())
    launcher = launch(*command, HEDGEROW_NPROC="2", STEPS="5")
    report = operator.wait_for(stopped)
    assert [(rank.exit_code, rank.step) for rank in report.ranks] == [(0, 5), (0, 5)]
    assert report.stop_cause == wire.STOP_ENDED
    operator.command(wire.Command(wire.COMMAND_FINISH, exit_code=0))
    assert launcher.wait() == 0


def test_when_the_command_is_killed_its_ranks_are_ended_and_a_sentence_says_why(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...]
) -> None:
    operator.command(begin())
    launcher = launch(*command, HEDGEROW_NPROC="2")
    ranks = pids(operator.wait_for(all_beat))
    os.kill(starter_of(launcher), signal.SIGKILL)
    report = operator.wait_for(stopped)
    assert not any(alive(pid) for pid in ranks)
    assert [rank.exit_code for rank in report.ranks] == [137, 137]
    assert report.ranks[0].output_tail == ["torchrun, which had started this rank, ended by signal 9"]


def test_a_command_that_fails_before_its_ranks_is_told_with_its_words(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch("bash", "-c", "echo torchrun: no such option >&2; exit 2", HEDGEROW_NPROC="2")
    report = operator.wait_for(stopped)
    assert [rank.exit_code for rank in report.ranks] == [2, 2]
    assert report.ranks[0].output_tail == ["torchrun: no such option"]


def test_a_command_that_cannot_be_started_is_told(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch("/nowhere/torchrun", "train.py", HEDGEROW_NPROC="2")
    (rank,) = operator.wait_for(stopped).ranks
    assert (rank.exit_code, "'/nowhere/torchrun' cannot be started" in rank.output_tail[0]) == (127, True)


def test_the_next_attempt_starts_once_every_rank_is_gone_at_its_own_port(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...]
) -> None:
    operator.command(begin(1, master_port=29411))
    launcher = launch(*command, HEDGEROW_NPROC="2")
    ranks = pids(operator.wait_for(all_beat))
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True))
    operator.wait_for(stopped)
    assert not any(alive(pid) for pid in ranks)
    operator.command(begin(2, master_port=29412))
    report = operator.wait_for(lambda r: r.attempt == 2 and all_beat(r))
    assert not set(pids(report)) & set(ranks)
    assert "rank 1 of 2 at 29412 2" in launcher.out


def test_a_launcher_that_is_asked_to_end_gives_the_ranks_their_grace(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...]
) -> None:
    operator.command(begin())
    launcher = launch(*command, HEDGEROW_NPROC="2")
    ranks = pids(operator.wait_for(all_beat))
    os.kill(launcher.pid, signal.SIGTERM)
    launcher.wait()
    assert not any(alive(pid) for pid in ranks)


def test_more_ranks_than_the_job_has_end_it_with_both_numbers(
    launch: Launch, operator: OperatorDouble, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    script = tmp_path / "train.sh"
    script.write_text(f"exec {sys.executable} {STARTER} --nproc_per_node=3 {tmp_path}/train.py\n")
    operator.command(begin())
    launch("bash", str(script), HEDGEROW_NPROC="2", HEDGEROW_PROCESSES="PerWorker")
    report = operator.wait_for(stopped)
    assert report.ranks[-1].exit_code == 127
    assert "starts 3 ranks in all where workers x ranksPerWorker is 1 x 2 = 2" in report.ranks[-1].output_tail[0]


def test_a_command_that_starts_ranks_and_is_started_for_each_rank_is_told_the_way_out(
    launch: Launch, operator: OperatorDouble, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    script = tmp_path / "train.sh"
    script.write_text(f"{sys.executable} {STARTER} --nproc_per_node=2 {tmp_path}/train.py\n")
    operator.command(begin())
    launcher = launch("bash", str(script), HEDGEROW_NPROC="2")
    report = operator.wait_for(stopped)
    said = report.ranks[-1].output_tail[0]
    assert report.ranks[-1].exit_code == 127
    assert "4 in all, where workers x ranksPerWorker is 1 x 2 = 2; write processes: PerWorker" in said
    assert f"hedgerow: {said}" in launcher.err


def test_ranks_whose_script_replaces_our_variable_are_found_all_the_same_and_a_line_says_what_is_lost(
    launch: Launch, operator: OperatorDouble, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("import time\nprint('hello', flush=True)\ntime.sleep(60)\n")
    script = tmp_path / "train.sh"
    script.write_text(f"export PYTHONPATH=/code\n{sys.executable} {STARTER} {tmp_path}/train.py\n")
    operator.command(begin())
    launcher = launch("bash", str(script), HEDGEROW_NPROC="2", HEDGEROW_PROCESSES="PerWorker")
    report = operator.wait_for(lambda r: len(pids(r)) == 2)
    assert all(alive(pid) for pid in pids(report))
    assert "write PYTHONPATH=DIRECTORY:$PYTHONPATH" in wait_until(lambda: "PYTHONPATH" in launcher.err and launcher.err)


def test_output_that_the_script_sends_to_a_file_stays_there(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...], tmp_path: Path
) -> None:
    script = tmp_path / "train.sh"
    script.write_text(f"{' '.join(command)} > {tmp_path}/log.txt 2>&1\n")
    operator.command(begin())
    launcher = launch("bash", str(script), HEDGEROW_NPROC="2", STEPS="5")
    operator.wait_for(stopped)
    assert sorted((tmp_path / "log.txt").read_text().splitlines())[0].startswith("rank 0 of 2")
    assert "rank" not in launcher.out


def test_lines_tell_progress_where_no_rank_beats(launch: Launch, operator: OperatorDouble, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os, time\nfor step in range(1, 500):\n"
        "    if os.environ['RANK'] == '1': print(f'iteration {step}/500 | lm loss: 1.0', flush=True)\n"
        "    time.sleep(0.05)\n"
    )
    operator.command(begin())
    launch(
        "bash",
        "-c",
        f"{sys.executable} {STARTER} {tmp_path}/train.py",
        HEDGEROW_NPROC="2",
        HEDGEROW_PROCESSES="PerWorker",
        HEDGEROW_LOG_PATTERN=r"iteration (?P<step>\d+)/",
    )
    report = operator.wait_for(lambda r: any(rank.source == "Log" for rank in r.ranks))
    assert [rank.source for rank in report.ranks] == [None, "Log"]


def test_a_lone_rank_that_is_not_told_its_number_is_found_by_its_beats(
    launch: Launch, operator: OperatorDouble, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("import hedgerow, time\nhedgerow.beat(step=7)\ntime.sleep(60)\n")
    operator.deadlines = {wire.PHASE_FIRST_STEP: 0.5}
    operator.command(begin())
    launch("bash", "-c", f"{sys.executable} {tmp_path}/train.py; exit 0", HEDGEROW_PROCESSES="PerWorker")
    rank = operator.wait_for_rank(lambda rank: rank.stack is not None)
    assert (rank.step, rank.source) == (7, "Library")
    assert rank.pid is not None


def after_training(launch: Launch, command: tuple[str, ...], tmp_path: Path, rest: str) -> LauncherProcess:
    """A script that goes on after its ranks have ended well, until there is a file ``go``."""
    script = tmp_path / "train.sh"
    script.write_text(f"{' '.join(command)} || exit 9\nuntil [ -e {tmp_path}/go ]; do sleep 0.05; done\n{rest}\n")
    return launch("bash", str(script), HEDGEROW_NPROC="2", STEPS="5")


def test_what_a_script_does_after_its_ranks_belongs_to_the_run(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...], tmp_path: Path
) -> None:
    operator.command(begin())
    after_training(launch, command, tmp_path, "exit 0")
    report = operator.wait_for(lambda r: any(rank.phase == wire.PHASE_ENDING for rank in r.ranks))
    assert sorted(rank.state for rank in report.ranks) == [wire.RANK_EXITED, wire.RANK_RUNNING]
    (tmp_path / "go").touch()
    assert [rank.exit_code for rank in operator.wait_for(stopped).ranks] == [0, 0]


def test_ranks_whose_end_nobody_could_read_have_ended_well_where_their_command_goes_on(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...], tmp_path: Path
) -> None:
    unread = f"import runpy, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); runpy.run_path('{STARTER}')"
    (tmp_path / "torchrun").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{unread}" "$@"\n')
    operator.command(begin())
    after_training(launch, command, tmp_path, "exit 3")
    report = operator.wait_for(lambda r: any(rank.phase == wire.PHASE_ENDING for rank in r.ranks))
    assert sorted(rank.state for rank in report.ranks) == [wire.RANK_EXITED, wire.RANK_RUNNING]
    (tmp_path / "go").touch()
    assert sorted(rank.exit_code or 0 for rank in operator.wait_for(stopped).ranks) == [0, 3]


def test_when_it_fails_after_its_ranks_the_run_has_failed(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...], tmp_path: Path
) -> None:
    operator.command(begin())
    after_training(launch, command, tmp_path, "echo no room to export >&2; exit 3")
    operator.wait_for(lambda r: any(rank.phase == wire.PHASE_ENDING for rank in r.ranks))
    (tmp_path / "go").touch()
    report = operator.wait_for(stopped)
    assert sorted(rank.exit_code or 0 for rank in report.ranks) == [0, 3]
    failed = next(rank for rank in report.ranks if rank.exit_code == 3)
    assert failed.output_tail[-1] == "no room to export"


def test_ranks_of_a_second_stage_are_watched_as_those_of_the_first(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...], tmp_path: Path
) -> None:
    operator.command(begin())
    after_training(launch, command, tmp_path, f"STEPS=0 STOPS_AT_5=0 {' '.join(command)}")
    first = operator.wait_for(lambda r: any(rank.phase == wire.PHASE_ENDING for rank in r.ranks))
    (tmp_path / "go").touch()
    # One of them may be found a look before the other, whose place the script holds until then.
    report = operator.wait_for(lambda r: len(pids(r)) == 2 and not set(pids(r)) & set(pids(first)), after=first.seq)
    assert all(rank.state == wire.RANK_RUNNING for rank in report.ranks)
    os.kill(report.ranks[1].pid or 0, signal.SIGKILL)
    assert operator.wait_for(stopped).ranks[1].exit_signal == signal.SIGKILL


def test_ranks_of_a_second_stage_that_fails_at_once_are_told_with_their_own_words(
    launch: Launch, operator: OperatorDouble, command: tuple[str, ...], tmp_path: Path
) -> None:
    operator.command(begin())
    after_training(launch, command, tmp_path, f"STEPS=0 FAILS=1 {' '.join(command)}")
    first = operator.wait_for(lambda r: any(rank.phase == wire.PHASE_ENDING for rank in r.ranks))
    (tmp_path / "go").touch()
    ended = operator.wait_for(stopped)
    assert not set(pids(ended)) & set(pids(first))
    assert ended.ranks[1].exit_code == 1
    assert ended.ranks[1].output_tail[-1] == "ValueError: bad batch at rank 1"


def test_without_an_operator_it_runs_to_the_commands_own_end(launch: Launch, command: tuple[str, ...]) -> None:
    launcher = launch(*command, reports=False, HEDGEROW_NPROC="2", FAILS="0")
    assert launcher.wait() == 1
    assert wait_until(lambda: "ValueError: bad batch at rank 0" in launcher.err)
