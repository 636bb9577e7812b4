"""hedgerow sbatch on five real scripts: a rank that really hangs is found, and the script knows nothing of it.

torchrun is a stand-in: a program of this name that starts the ranks of its node. The ranks of pmi2 speak it first.
"""

from collections.abc import Iterator

import pytest

from tests.slurm.sbatch_parts.submitting import Case
from tests.slurm.testbed.testbed import Testbed

HANGS_AT, STEPS = 30, 60
SCRIPTS = {
    "plain": """#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
echo before
srun python3 {train} {folder} 60 30
echo "after $?"
""",
    "torchrun": """#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
nodes=( $(scontrol show hostnames "$SLURM_JOB_NODELIST") )
echo "before ${nodes[0]}"
srun ./torchrun --nnodes=2 --nproc_per_node=1 --rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d \\
    --rdzv_endpoint=${nodes[0]}:29511 {train} {folder} 60 30
echo "after $?"
""",
    "pmi2": """#!/bin/sh
#SBATCH -N 2
#SBATCH -n 2
srun --mpi=pmi2 sh -c 'python3 {pmi2} && exec python3 {train} {folder} 60 30'
echo "after $?"
""",
    "conda": """#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
mkdir -p {folder}/env/bin
ln -s "$(command -v python3)" {folder}/env/bin/python
conda_activate() { export CONDA_PREFIX={folder}/env PATH={folder}/env/bin:/usr/bin:/bin; }
conda_activate
srun python {train} {folder} 60 30
echo "after $?"
""",
}
ARRAY = """#!/bin/bash
#SBATCH --array=0-1
#SBATCH --nodes=1 --ntasks=2
mkdir -p {folder}/$SLURM_ARRAY_TASK_ID
srun python3 {train} {folder}/$SLURM_ARRAY_TASK_ID 60 30
echo "after $? of $SLURM_ARRAY_TASK_COUNT"
"""


@pytest.fixture(scope="module")
def cases(slurm: Testbed) -> Iterator[dict[str, Case]]:
    """All of them, side by side: most of the time they wait."""
    started = {name: Case(slurm, f"script-{name}", text) for name, text in {**SCRIPTS, "array": ARRAY}.items()}
    for case in started.values():
        said = case.submit()
        assert said == f"Submitted batch job {case.job_id}"
    for case in started.values():
        case.wait(150)
    yield started
    slurm.heal()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_stall_is_healed_and_the_script_goes_on_as_if_nothing_had_been(name: str, cases: dict[str, Case]) -> None:
    case = cases[name]
    assert "after 0" in case.output, case.output
    assert case.lives(1) == case.lives(2) == case.ended == {0, 1}
    assert not case.lines("twice")
    assert {int(first) for attempt, _, first, _ in case.lines("lives") if attempt == "2"} == {30}
    assert case.state_of(case.job_id) == "COMPLETED"


def test_ranks_that_speak_pmi2_are_started_by_an_srun_anew(cases: dict[str, Case]) -> None:
    assert cases["pmi2"].output.count("rank 1 of 2 node-n") == 2


def test_each_task_of_an_array_is_healed_by_itself(cases: dict[str, Case]) -> None:
    case = cases["array"]
    assert case.output.count("after 0 of 2") == 2, case.output
    for task in ("0", "1"):
        assert case.lines(f"{task}/ended").__len__() == 2
        assert not case.lines(f"{task}/twice")
        assert {line[0] for line in case.lines(f"{task}/lives")} == {"1", "2"}


def test_the_output_has_few_lines_of_ours(cases: dict[str, Case]) -> None:
    lines = cases["plain"].output.splitlines()
    ours = [line for line in lines if line.startswith("hedgerow:")]
    assert [line for line in lines if line not in ours] == ["before", "after 0"]
    assert len(ours) <= 4, ours
