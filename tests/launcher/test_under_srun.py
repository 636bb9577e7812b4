"""Launchers that srun starts: one a node, or one a rank of which the first speaks for its node."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hedgerow import wire
from tests.launcher import pretended_srun
from tests.launcher.launching import LauncherProcess, alive, begin, python, wait_until
from tests.launcher.operator_double import OperatorDouble
from tests.launcher.slurm_environment import Place, lightning_place

SHOW = """
import json, os, sys, time
pmi = os.read(int(os.environ["PMI_FD"]), 99).decode() if "PMI_FD" in os.environ else ""
print(json.dumps([dict(os.environ), pmi, sys.stdin.read()]), flush=True)
time.sleep(60)
"""
SLEEP = "import time; print('up', flush=True); time.sleep(60)"
ENDS = "import os, sys; sys.exit(3 + int(os.environ['SLURM_PROCID']))"
COUNTS_USR1 = """
import signal, time
signal.signal(signal.SIGUSR1, lambda *_: print("got it", flush=True))
print("up", flush=True)
while True:
    time.sleep(60)
"""
PIECES = """
import os, time
for _ in range(30):
    for piece in ("a", "b", "c", chr(10)):
        os.write(1, piece.encode())
        time.sleep(0.002)
"""
TIDY = """
import signal, sys, time
def leave(*_):
    time.sleep(0.4)
    print("tidied", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print("up", flush=True)
time.sleep(60)
"""
# What a launcher adds, and what is of the single process.
NOT_COMPARED = (
    "HEDGEROW_",
    "PYTHON",
    "RANK",
    "LOCAL_",
    "GROUP_RANK",
    "WORLD_SIZE",
    "MASTER_",
    "PMI_FD",
    "TORCH_",
    "NCCL_",
    "SLURM_SRUN_COMM_PORT",
    "_",
)

Srun = Callable[..., LauncherProcess]


class Step(LauncherProcess):
    """A step that srun runs: the launcher of ``LauncherProcess`` is each task's."""

    def start_step(
        self, nodes: int, per_node: int, launcher: tuple[str, ...], command: Sequence[str], stdin: str
    ) -> Step:
        words = [sys.executable, str(self.archive), "run", *launcher, "--"] if launcher != ("bare",) else []
        with Path(stdin).open() as file:
            srun = [sys.executable, pretended_srun.__file__, str(nodes), str(per_node), *words, *command]
            self.run_words(srun, stdin=file.fileno())
        return self


@pytest.fixture
def srun(tmp_path: Path, archive: Path, operator: OperatorDouble) -> Iterator[Srun]:
    """``srun(nodes, tasks_per_node, launcher_options, command…, reports=True, **environment)``."""
    started: list[Step] = []

    def start(
        nodes: int,
        per_node: int,
        launcher: tuple[str, ...],
        *command: str,
        reports: bool = True,
        stdin: str = os.devnull,
        **settings: str,
    ) -> Step:
        step = Step(tmp_path, archive, operator if reports else None, **settings)
        started.append(step)
        return step.start_step(nodes, per_node, launcher, command, stdin)

    yield start
    for step in started:
        step.end()


def shown(step: LauncherProcess, count: int) -> dict[int, tuple[dict[str, str], str, str]]:
    """What the ranks have printed, by the task that srun says it is of."""
    lines = wait_until(lambda: len(step.out.splitlines()) == count and step.out.splitlines())
    parts = [line.partition(": ") for line in lines]
    return {int(task): tuple(json.loads(text)) for task, _colon, text in parts}  # type: ignore[misc]


def compared(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if not name.startswith(NOT_COMPARED)}


PER_TASK = ("--slurm-launch", "per-task")


def all_started(operator: OperatorDouble, nodes: int, attempt: int = 1) -> None:
    for node in range(nodes):
        operator.command(begin(attempt, master_address="10.0.0.7"), worker=node)


def test_one_report_goes_out_for_each_node_with_all_its_ranks(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 2)
    srun(2, 2, PER_TASK, *python(SLEEP))
    launchers = set()
    for node in (0, 1):
        report = operator.wait_for(
            lambda report: [rank.output_tail for rank in report.ranks] == [["up"], ["up"]], worker=node
        )
        assert [(rank.rank, rank.local_rank) for rank in report.ranks] == [(2 * node, 0), (2 * node + 1, 1)]
        assert (report.workers, report.ranks_per_worker, report.node) == (2, 2, f"n{node + 1}")
        assert report.step == "7.3"
        launchers.add(report.launcher)
    assert {report.launcher for report in operator.reports} == launchers


def test_a_rank_has_all_that_srun_gives_to_its_task_and_its_place_besides(srun: Srun, operator: OperatorDouble) -> None:
    bare = srun(2, 2, ("bare",), *python(SHOW))
    expected = shown(bare, 4)
    bare.end()
    bare.path("out").unlink()
    all_started(operator, 2)
    ranks = shown(srun(2, 2, PER_TASK, *python(SHOW)), 4)
    for number, (variables, pmi, _stdin) in ranks.items():
        assert compared(variables) == compared(expected[number][0])
        assert pmi == f"pmi of task {number}"
        place = [variables[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK")]
        assert place == [str(number), str(number % 2), "4", "2", str(number // 2)]
        assert variables["MASTER_ADDR"] == "10.0.0.7"


OF_GANGS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_PORT")


def test_a_script_that_nobody_has_declared_finds_its_own_place(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    ranks = shown(srun(1, 2, ("--slurm-launch", "auto"), *python(SHOW), MASTER_ADDR="mine"), 2)
    for number, (variables, _pmi, _stdin) in ranks.items():
        assert (variables["SLURM_PROCID"], variables["MASTER_ADDR"]) == (str(number), "mine")
        assert not set(OF_GANGS) & set(variables)


def test_ranks_that_are_declared_are_told_their_place(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    ranks = shown(srun(1, 2, ("--slurm-launch", "auto"), *python(SHOW), HEDGEROW_NPROC="2"), 2)
    assert [ranks[number][0]["RANK"] for number in (0, 1)] == ["0", "1"]
    assert set(OF_GANGS) <= set(ranks[0][0])


@pytest.mark.parametrize(
    ("tasks", "options"), [(2, PER_TASK), (1, ("--nproc-per-worker", "2"))], ids=["one a rank", "one a node"]
)
def test_lightning_finds_its_place(srun: Srun, operator: OperatorDouble, tasks: int, options: tuple[str, ...]) -> None:
    all_started(operator, 2)
    step = srun(2, tasks, options, *python(SHOW))
    lines = wait_until(lambda: len(step.out.splitlines()) == 4 and step.out.splitlines())
    variables = [json.loads(line.partition(": ")[2])[0] for line in lines]
    places = sorted(lightning_place(entry, devices=2, nodes=2) for entry in variables)
    assert places == [Place(4, rank, rank % 2, rank // 2, "10.0.0.7") for rank in range(4)]
    torch = sorted((entry["RANK"], entry["LOCAL_RANK"], entry["GROUP_RANK"]) for entry in variables)
    assert torch == [(str(rank), str(rank % 2), str(rank // 2)) for rank in range(4)]


def test_one_launcher_a_node_tells_its_ranks_all_that_srun_would_have(srun: Srun, operator: OperatorDouble) -> None:
    bare = srun(2, 2, ("bare",), *python(SHOW))
    expected = {number: compared(entry[0]) for number, entry in shown(bare, 4).items()}
    bare.end()
    bare.path("out").unlink()
    all_started(operator, 2)
    step = srun(2, 1, ("--nproc-per-worker", "2"), *python(SHOW), CUDA_VISIBLE_DEVICES="4,5")
    lines = wait_until(lambda: len(step.out.splitlines()) == 4 and step.out.splitlines())
    for line in lines:
        variables = json.loads(line.partition(": ")[2])[0]
        number = int(variables["SLURM_PROCID"])
        extra = {"SLURM_DISTRIBUTION": "block", "CUDA_VISIBLE_DEVICES": "4,5"}
        assert compared(variables) == {**expected[number], **extra}
        assert not any(name.startswith("PMI") for name in variables), "the place in Slurm's PMI is the launcher's"


def test_a_rank_sees_one_gpu_where_that_is_asked_for(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    step = srun(1, 1, ("--nproc-per-worker", "2", "--gpus", "PerRank"), *python(SHOW), CUDA_VISIBLE_DEVICES="4,5")
    lines = wait_until(lambda: len(step.out.splitlines()) == 2 and step.out.splitlines())
    seen = [json.loads(line.partition(": ")[2])[0] for line in lines]
    assert {entry["LOCAL_RANK"]: entry["CUDA_VISIBLE_DEVICES"] for entry in seen} == {"0": "4", "1": "5"}


def running(attempt: int) -> Callable[[wire.Report], Any]:
    return lambda r: r.stage == wire.STAGE_RUNNING and r.attempt == attempt and len(r.ranks) == 2


def test_a_new_attempt_starts_in_place_on_every_task(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 2)
    srun(2, 2, PER_TASK, *python(SLEEP))
    first = [operator.wait_for(running(1), worker=node) for node in (0, 1)]
    for node in (0, 1):
        operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True), begin(2), worker=node)
    second = [operator.wait_for(running(2), worker=node) for node in (0, 1)]
    assert [report.launcher for report in first] == [report.launcher for report in second]
    assert not any(alive(rank.pid or 0) for report in first for rank in report.ranks)
    assert all(alive(rank.pid or 0) for report in second for rank in report.ranks)


def test_stacks_are_taken_of_the_ranks_of_all_tasks(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    srun(1, 2, PER_TASK, *python("import time\ndef stuck():\n    time.sleep(60)\nstuck()"))
    operator.wait_for(running(1))
    operator.command(begin(), wire.Command(wire.COMMAND_DUMP, 1))
    operator.wait_for(lambda r: all("stuck" in (rank.stack or "") for rank in r.ranks) and len(r.ranks) == 2)


def test_every_task_ends_as_its_rank_did_when_the_job_has_failed(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    step = srun(1, 3, PER_TASK, *python(ENDS))
    report = operator.wait_for(lambda r: [rank.exit_code for rank in r.ranks] == [3, 4, 5])
    assert report.stage in (wire.STAGE_RUNNING, wire.STAGE_STOPPED)
    operator.command(wire.Command(wire.COMMAND_FINISH, 1, exit_code=1))
    assert step.wait() == 5


def test_finish_ends_all_tasks(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 2)
    step = srun(2, 2, PER_TASK, *python(SLEEP))
    for node in (0, 1):
        operator.wait_for(running(1), worker=node)
        operator.command(wire.Command(wire.COMMAND_FINISH, 1, exit_code=0), worker=node)
    assert step.wait() == 0


def test_without_an_operator_the_exit_code_of_srun_is_as_without_a_launcher(srun: Srun) -> None:
    assert srun(1, 2, PER_TASK, *python(ENDS), reports=False).wait() == 4


def test_ranks_are_ended_when_the_task_that_speaks_for_their_node_dies(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    step = srun(1, 2, PER_TASK, *python(SLEEP))
    report = operator.wait_for(lambda r: [rank.output_tail for rank in r.ranks] == [["up"], ["up"]])
    os.kill(parent(report.ranks[0].pid), signal.SIGKILL)
    step.wait(20)
    assert not any(alive(rank.pid or 0) for rank in report.ranks)
    assert "1: hedgerow: the task that speaks for this node has ended; the rank here is killed" in step.err


def test_a_task_that_dies_takes_its_rank_with_it_and_its_absence_is_named(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    srun(1, 2, PER_TASK, *python(SLEEP))
    report = operator.wait_for(lambda r: [rank.output_tail for rank in r.ranks] == [["up"], ["up"]])
    os.kill(parent(report.ranks[1].pid), signal.SIGKILL)
    end = operator.wait_for(lambda r: len(r.ranks) == 2 and r.ranks[1].exit_signal == signal.SIGKILL)
    assert end.ranks[0].exit_code is None
    wait_until(lambda: not alive(report.ranks[1].pid or 0))
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True), begin(2))
    later = operator.wait_for(lambda r: r.attempt == 2 and any(rank.exit_code for rank in r.ranks))
    assert later.once, "the next attempt is for another step"
    words = "task 1 of this node (rank 1) has ended, so that its rank cannot be started"
    assert [rank.output_tail for rank in later.ranks if rank.rank == 1] == [[words]]


def test_ranks_that_use_mpi_are_started_once(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    srun(1, 2, (*PER_TASK, "--mpi", "pmi2"), *python(SLEEP))
    assert operator.wait_for(running(1)).once
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True), begin(2))
    later = operator.wait_for(lambda r: r.attempt == 2 and r.stage == wire.STAGE_STOPPED)
    words = "srun --mpi=pmi2 serves each task once; start its ranks by a new srun"
    assert [(rank.rank, rank.exit_code, rank.output_tail) for rank in later.ranks] == [(0, 1, [words])]


def test_signals_of_users_reach_the_ranks_and_end_no_launcher(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    step = srun(1, 2, PER_TASK, *python(COUNTS_USR1))
    operator.wait_for(lambda r: [rank.output_tail for rank in r.ranks] == [["up"], ["up"]])
    assert step.process is not None
    step.process.send_signal(signal.SIGUSR1)
    wait_until(lambda: sorted(step.out.split("\n")) == ["", "0: got it", "0: up", "1: got it", "1: up"])
    assert all(alive(rank.pid or 0) for rank in operator.of(0)[-1].ranks)


def test_the_end_of_the_step_gives_ranks_their_grace(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    step = srun(1, 2, PER_TASK, *python(TIDY))
    operator.wait_for(lambda r: [rank.output_tail for rank in r.ranks] == [["up"], ["up"]])
    assert step.process is not None
    step.process.send_signal(signal.SIGTERM)
    step.wait(20)
    assert {"0: tidied", "1: tidied"} <= set(step.out.splitlines())
    assert operator.of(0)[-1].stop_cause == wire.STOP_SIGNAL


def test_the_first_task_reads_standard_input(srun: Srun, operator: OperatorDouble, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("words")
    all_started(operator, 1)
    ranks = shown(srun(1, 2, PER_TASK, *python(SHOW), stdin=str(tmp_path / "in")), 2)
    assert [ranks[0][2], ranks[1][2]] == ["words", ""]


def test_what_cannot_be_watched_runs_as_it_would_without_us(srun: Srun) -> None:
    step = srun(1, 2, ("--slurm-launch", "auto"), "torchrun-like.sh", reports=False)
    assert step.wait() == 127
    script = step.folder / "torchrun"
    script.write_text("#!/bin/sh\necho $SLURM_PROCID of $SLURM_NTASKS\nexit 4\n")
    script.chmod(0o755)
    step = srun(1, 2, ("--slurm-launch", "auto"), str(script), reports=False)
    assert step.wait() == 4
    assert sorted(step.out.splitlines()) == ["0: 0 of 2", "1: 1 of 2"]
    assert step.err.count("this step runs unwatched") == 1


def parent(pid: int | None) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat[stat.rindex(")") + 2 :].split()[1])


def test_lines_of_ranks_never_mix(srun: Srun, operator: OperatorDouble) -> None:
    all_started(operator, 1)
    step = srun(1, 2, PER_TASK, *python(PIECES))
    operator.wait_for(lambda r: r.stage == wire.STAGE_STOPPED)
    wait_until(lambda: sorted(step.out.splitlines()) == ["0: abc"] * 30 + ["1: abc"] * 30)
