"""Scripts as people write them, with our srun first on PATH: every rank is watched; switched off, it is not there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow import wire
from hedgerow.slurm.shim_files import write_shim
from tests.slurm.testbed.testbed import Testbed
from tests.slurm.watched_steps import WatchedSteps

PYTHON = sys.executable
PMI2_CLIENT = Path(__file__).with_name("pmi2_client.py")
RANKS_STARTER = Path(__file__).parents[1] / "launcher/ranks_starter.py"
# Trains until there is a file named "go".
TRAIN = """
import os, sys, time
place = os.environ if "RANK" in os.environ else {"RANK": os.environ["SLURM_PROCID"]}
sys.stdout.write("rank %s on %s\\n" % (place["RANK"], os.environ["SLURMD_NODENAME"]))
sys.stdout.flush()
while not os.path.exists("go"):
    time.sleep(0.05)
"""
TORCHRUN = f"""#!/bin/sh
exec {PYTHON} {{starter}} "$@"
"""
CONDA = """
# As `conda activate` does it, and as a module of Slurm does it.
export PATH=$PWD/conda/bin:$PATH CONDA_PREFIX=$PWD/conda
export PATH=$(dirname "$REAL_SRUN"):$PATH
bash -c 'srun python train.py'
"""
SCRIPTS = {
    "plain": f"srun {PYTHON} train.py",
    "torchrun for each node": (
        'nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))\n'
        "srun --ntasks=$SLURM_NNODES --ntasks-per-node=1 ./torchrun --nnodes=$SLURM_NNODES --nproc_per_node=2 "
        "--rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d --rdzv_endpoint=${nodes[0]}:29500 train.py"
    ),
    "MPI": f"srun --mpi=pmi2 {PYTHON} {PMI2_CLIENT} 1",
    "a changed PATH": CONDA,
    "few variables": f"srun --export=NONE {PYTHON} train.py",
    "in the background": f"srun -l -K {PYTHON} train.py & wait $!",
}
TWO_BY_TWO = ("--nodes=2", "--ntasks-per-node=2")


@pytest.fixture
def steps(fresh_slurm: Testbed, request: pytest.FixtureRequest) -> Iterator[WatchedSteps]:
    found = WatchedSteps(fresh_slurm, fresh_slurm.jobs / f"shim-{abs(hash(request.node.nodeid))}")
    write_shim(str(found.folder / "shim"), PYTHON, str(found.archive))
    found.write("train.py", TRAIN)
    found.write("torchrun", TORCHRUN.format(starter=RANKS_STARTER))
    (found.folder / "conda/bin").mkdir(parents=True)
    (found.folder / "conda/bin/python").symlink_to(PYTHON)
    yield found
    found.close()


def with_shim(script: str) -> str:
    """A batch script that runs the user's with our srun."""
    before = "export REAL_SRUN=$(command -v srun)\n. shim/environment.sh\n"
    return f"{before}cat > script.sh <<'END'\n{script}\nEND\nbash script.sh\n"


def said(text: str) -> list[str]:
    """The lines that the ranks have printed."""
    return sorted(line.split(": ", 1)[-1] for line in text.splitlines() if "rank " in line and "hedgerow: " not in line)


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_every_rank_of_a_script_is_watched_and_started_anew(steps: WatchedSteps, script: str) -> None:
    steps.start(2)
    job = steps.submit(with_shim(script), *TWO_BY_TWO)
    first = steps.every_node(2, lambda r: len(r.ranks) == 2 and all(said("\n".join(k.output_tail)) for k in r.ranks))
    assert [[rank.rank for rank in report.ranks] for report in first] == [[0, 1], [2, 3]]
    assert {(report.step, report.workers, report.ranks_per_worker) for report in first} == {(f"{job}.0", 2, 2)}
    assert {report.once for report in first} == {"--mpi" in script}
    attempt = 1
    if "--mpi" not in script:
        attempt = 2
        steps.start(2, 2, wire.Command(wire.COMMAND_STOP, 1, kill=True))
        steps.every_node(2, lambda r: r.attempt == 2 and all(said("\n".join(k.output_tail)) for k in r.ranks))
        assert not steps.slurm.processes_of(SLURM_JOB_ID=job, HEDGEROW_ATTEMPT="1")
    (steps.folder / "go").touch()
    steps.every_node(2, lambda r: r.attempt == attempt and r.stage == wire.STAGE_STOPPED)
    steps.finish(2, attempt)
    assert steps.ended(job) == "COMPLETED", steps.out()
    assert len(said(steps.out())) == 4 * attempt, steps.out()


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_switched_off_a_script_behaves_as_under_sbatch(steps: WatchedSteps, script: str) -> None:
    (steps.folder / "go").touch()
    steps.write("user.sh", script)
    both = "REAL_SRUN=$(command -v srun) bash user.sh > bare 2>&1\n" + with_shim("bash user.sh > off 2>&1")
    job = steps.submit(both, *TWO_BY_TWO, environment={**steps.variables(), "HEDGEROW": "off"})
    assert steps.ended(job) == "COMPLETED", steps.out()
    bare, off = (sorted((steps.folder / name).read_text().splitlines()) for name in ("bare", "off"))
    assert off == bare
    assert len(said("\n".join(off))) == 4
    assert steps.operator.reports == []


def test_the_tasks_of_a_job_array_are_watched_each(steps: WatchedSteps) -> None:
    steps.start(1)
    steps.submit(with_shim(f"srun {PYTHON} train.py $SLURM_ARRAY_TASK_ID"), "--nodes=1", "--ntasks=2", "--array=0-1")
    for place in range(2):
        steps.operator.wait_for(lambda r, place=place: len({x.step for x in steps.operator.reports}) > place)
    found = {report.step for report in steps.operator.reports}
    assert len(found) == 2
    (steps.folder / "go").touch()
    steps.finish(1, 1)


def test_the_exit_code_of_the_ranks_is_that_of_the_script(steps: WatchedSteps) -> None:
    steps.write("train.py", "import os, sys; sys.exit(3 + int(os.environ['SLURM_PROCID']))")
    steps.start(2)
    job = steps.submit(with_shim(f"srun {PYTHON} train.py\necho code $?"), *TWO_BY_TWO)
    steps.every_node(2, lambda r: r.stage == wire.STAGE_STOPPED)
    steps.finish(2, 1, exit_code=1)
    assert steps.ended(job) == "COMPLETED"
    assert "code 6" in steps.out().splitlines()


def test_a_step_that_prepares_runs_as_it_is_beside_the_one_that_trains(steps: WatchedSteps) -> None:
    steps.start(2)
    given = {**steps.variables(), "HEDGEROW_WORKERS": "2", "HEDGEROW_NPROC": "2"}
    script = f"srun --nodes=1 --ntasks=1 echo prepared\nsrun {PYTHON} train.py"
    job = steps.submit(with_shim(script), *TWO_BY_TWO, environment=given)
    (steps.folder / "go").touch()
    reports = steps.every_node(2, lambda r: r.stage == wire.STAGE_STOPPED)
    assert {report.step for report in reports} == {f"{job}.1"}
    steps.finish(2, 1)
    assert steps.ended(job) == "COMPLETED"
    assert steps.out().splitlines().count("prepared") == 1
