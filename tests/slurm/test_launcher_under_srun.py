"""Launchers that the real srun starts: what the ranks are given, restarts in place, MPI, and ends."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow import wire
from tests.launcher.launching import wait_until
from tests.launcher.slurm_environment import Place, lightning_place
from tests.slurm.testbed.testbed import Testbed
from tests.slurm.watched_steps import WatchedSteps

PMI2_CLIENT = Path(__file__).with_name("pmi2_client.py")
SHOW = """
import json, os, sys, time
with open(sys.argv[1] + "." + os.environ["SLURM_PROCID"] + ".part", "w") as file:
    json.dump(dict(os.environ), file)
os.rename(file.name, file.name[:-5])
print("up", flush=True)
time.sleep(float(sys.argv[2]))
"""
COUNTS_USR1 = """
import signal, time
signal.signal(signal.SIGUSR1, lambda *_: print("got it", flush=True))
print("up", flush=True)
while True:
    time.sleep(60)
"""
TWO_BY_TWO = ("--nodes=2", "--ntasks-per-node=2", "--gres=gpu:2")
PER_TASK = ("--slurm-launch", "per-task")
PER_NODE = ("--nproc-per-worker", "2")
# Of each single step or process.
OF_THE_STEP = (
    "SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_LAUNCHER_PORT", "SLURM_SRUN_COMM_PORT", "SLURM_TASK_PID",
    "SLURM_WORKING_CLUSTER", "PMI_JOBID", "PMI_FD", "SHLVL", "_",
)  # fmt: skip
# What a launcher adds.
ADDED = ("HEDGEROW_", "PYTHON", "RANK", "LOCAL_", "GROUP_RANK", "WORLD_SIZE", "MASTER_", "TORCH_", "NCCL_")


@pytest.fixture
def steps(fresh_slurm: Testbed, request: pytest.FixtureRequest) -> Iterator[WatchedSteps]:
    found = WatchedSteps(fresh_slurm, fresh_slurm.jobs / f"launcher-{abs(hash(request.node.nodeid))}")
    yield found
    found.close()


def given(steps: WatchedSteps, name: str) -> dict[int, dict[str, str]]:
    """What the four ranks of a step were given, without what is of the single step."""
    paths = [steps.folder / f"{name}.{rank}" for rank in range(4)]
    wait_until(lambda: all(path.exists() for path in paths))
    everything = [json.loads(path.read_text()) for path in paths]
    return {
        rank: {name: value for name, value in variables.items() if not name.startswith(ADDED + OF_THE_STEP)}
        for rank, variables in enumerate(everything)
    }


LAUNCHES = {
    "one a rank": ("srun --mpi=pmi2 {} {}", "srun --mpi=pmi2 {}", PER_TASK),
    "one a node": ("srun --ntasks=2 --ntasks-per-node=1 {} {}", "srun {}", PER_NODE),
}


@pytest.mark.parametrize(("watched", "bare", "options"), LAUNCHES.values(), ids=LAUNCHES.keys())
def test_ranks_are_given_what_a_bare_srun_gives(
    steps: WatchedSteps, watched: str, bare: str, options: tuple[str, ...]
) -> None:
    steps.write("show.py", SHOW)
    first = watched.format(steps.launcher(*options), f"{sys.executable} show.py watched 0")
    steps.start(2)
    job = steps.submit(f"{first}\n{bare.format(f'{sys.executable} show.py bare 0')}\n", *TWO_BY_TWO)
    steps.every_node(2, lambda r: r.stage == wire.STAGE_STOPPED)
    steps.finish(2, 1)
    assert steps.ended(job) == "COMPLETED"
    found, expected = given(steps, "watched"), given(steps, "bare")
    for rank in range(4):
        assert found[rank] == expected[rank]
        variables = json.loads((steps.folder / f"watched.{rank}").read_text())
        assert lightning_place(variables, devices=2, nodes=2) == Place(4, rank, rank % 2, rank // 2, "127.0.0.1")
        assert [variables["RANK"], variables["LOCAL_RANK"], variables["WORLD_SIZE"]] == [str(rank), str(rank % 2), "4"]
        assert variables["CUDA_VISIBLE_DEVICES"] == "0,1"


@pytest.mark.parametrize(("watched", "_bare", "options"), LAUNCHES.values(), ids=LAUNCHES.keys())
def test_a_new_attempt_starts_in_place(steps: WatchedSteps, watched: str, _bare: str, options: tuple[str, ...]) -> None:
    steps.write("show.py", SHOW)
    steps.start(2)
    job = steps.submit(watched.format(steps.launcher(*options), f"{sys.executable} show.py x 600"), *TWO_BY_TWO)
    first = steps.every_node(2, lambda r: [rank.output_tail for rank in r.ranks] == [["up"], ["up"]])
    assert {report.step for report in first} == {f"{job}.0"}
    assert [report.node for report in first] == ["n1", "n2"]
    assert len(steps.slurm.processes_of(SLURM_JOB_ID=job, HEDGEROW_ATTEMPT="1")) == 4
    steps.start(2, 2, wire.Command(wire.COMMAND_STOP, 1, kill=True))
    second = steps.every_node(2, lambda r: r.attempt == 2 and [rank.output_tail for rank in r.ranks] == [["up"]] * 2)
    assert [report.launcher for report in first] == [report.launcher for report in second]
    assert len(steps.slurm.processes_of(SLURM_JOB_ID=job, HEDGEROW_ATTEMPT="1")) == 0
    assert len(steps.slurm.processes_of(SLURM_JOB_ID=job, HEDGEROW_ATTEMPT="2")) == 4
    steps.finish(2, 2)
    assert steps.ended(job) == "COMPLETED"
    assert len(steps.slurm.processes_of(SLURM_JOB_ID=job)) == 0


def test_ranks_find_each_other_by_pmi2(steps: WatchedSteps) -> None:
    steps.start(2)
    line = f"srun --mpi=pmi2 --label {steps.launcher(*PER_TASK)} {sys.executable} {PMI2_CLIENT}"
    job = steps.submit(line, *TWO_BY_TWO)
    steps.every_node(2, lambda r: r.stage == wire.STAGE_STOPPED)
    steps.finish(2, 1)
    assert steps.ended(job) == "COMPLETED"
    said = sorted(line for line in steps.out().splitlines() if "hedgerow: " not in line)
    assert said == [f"{rank}: rank {rank} of 4 node-n1 node-n1 node-n2 node-n2" for rank in range(4)]


@pytest.mark.parametrize("options", [PER_TASK, PER_NODE], ids=["one a rank", "one a node"])
def test_signals_of_users_reach_every_rank_and_end_no_launcher(steps: WatchedSteps, options: tuple[str, ...]) -> None:
    steps.write("count.py", COUNTS_USR1)
    steps.start(2)
    tasks = "" if options == PER_TASK else "--ntasks=2 --ntasks-per-node=1"
    job = steps.submit(f"srun {tasks} {steps.launcher(*options)} {sys.executable} count.py", *TWO_BY_TWO)
    steps.every_node(2, lambda r: [rank.output_tail for rank in r.ranks] == [["up"], ["up"]])
    steps.slurm.run(f"scancel --signal=USR1 {job}")
    steps.every_node(2, lambda r: [rank.output_tail for rank in r.ranks] == [["up", "got it"]] * 2)
    steps.finish(2, 1)
    assert steps.ended(job) == "COMPLETED"


def test_a_step_that_is_cancelled_is_told_of_and_leaves_nothing(steps: WatchedSteps) -> None:
    steps.write("show.py", SHOW)
    steps.start(2)
    job = steps.submit(f"srun {steps.launcher(*PER_TASK)} {sys.executable} show.py x 600", *TWO_BY_TWO)
    steps.every_node(2, lambda r: [rank.output_tail for rank in r.ranks] == [["up"], ["up"]])
    steps.slurm.run(f"scancel {job}")
    ended = steps.every_node(2, lambda r: r.stage == wire.STAGE_STOPPED)
    assert {report.stop_cause for report in ended} <= {wire.STOP_SIGNAL, wire.STOP_ENDED}
    assert steps.ended(job) == "CANCELLED"
    wait_until(lambda: not steps.slurm.processes_of(SLURM_JOB_ID=job))


def test_ranks_do_not_outlive_the_launcher_that_speaks_for_them(steps: WatchedSteps) -> None:
    steps.write("show.py", SHOW)
    steps.start(2)
    line = f"srun --kill-on-bad-exit=0 {steps.launcher(*PER_TASK)} {sys.executable} show.py x 600"
    job = steps.submit(line, *TWO_BY_TWO)
    steps.every_node(2, lambda r: [rank.output_tail for rank in r.ranks] == [["up"], ["up"]])
    place = {"SLURM_JOB_ID": job, "SLURM_STEP_ID": "0", "SLURM_NODEID": "0"}
    ranks = set(steps.slurm.processes_of(**place, HEDGEROW_ATTEMPT="1"))
    speaker = set(steps.slurm.processes_of(**place, SLURM_LOCALID="0")) - ranks
    steps.slurm.run(["kill", f"-{signal.SIGKILL.value}", *map(str, speaker)])
    wait_until(lambda: not steps.slurm.processes_of(**place, HEDGEROW_ATTEMPT="1"))
    assert len(steps.slurm.processes_of(SLURM_JOB_ID=job, SLURM_NODEID="1", HEDGEROW_ATTEMPT="1")) == 2
