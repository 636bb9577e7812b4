"""hedgerow sbatch where its batch job ends before the script does: another goes on, or none, and never two at once."""

from collections.abc import Iterator

import pytest

from tests.slurm.sbatch_parts.submitting import Case
from tests.slurm.testbed.testbed import Testbed

LOST = "n2"
SCRIPT = """#!/bin/bash
#SBATCH --ntasks=2 --exclude={exclude} {more}
echo "run ${{SLURM_RESTART_COUNT-0}}"
{before}
srun python3 {{train}} {{folder}} {steps} {hangs}
code=$?
echo "after $code"
exit $code
"""


def script(exclude: str = LOST, more: str = "--nodes=1", before: str = "", steps: int = 60, hangs: str = "") -> str:
    return SCRIPT.format(exclude=exclude, more=more, before=before, steps=steps, hangs=hangs)


SCRIPTS = {
    "node lost": script(exclude="n3", more="--nodes=2", steps=400),
    "batch host lost": script(exclude="n1", more="--nodes=2", steps=400),
    "time limit": script(more="--nodes=1 --time=1", steps=800),
    "cancelled": script(steps=2000),
    "alone": script(steps=60, more="--nodes=1"),
    "requeued": script(more="--nodes=1 --requeue", steps=400),
    "no room": script(exclude="n1,n2,n3", before="export BAD_NODE=1", hangs="15"),
    "refused": script(before="", steps=60),
    "bad node": script(before="export BAD_NODE=1", hangs="15"),
}
OPTIONS = {"alone": ["--no-successor"]}
# A site where no job may submit another.
REFUSES = """#!/bin/sh
case "$*" in *afternotok*)
    echo "sbatch: error: Batch job submission failed: Access/permission denied" >&2
    exit 1 ;;
esac
exec /usr/bin/sbatch "$@"
"""


def with_refusing_sbatch(case: Case) -> None:
    """From now on."""
    folder = case.folder / "bin"
    folder.mkdir()
    (folder / "sbatch").write_text(REFUSES)
    (folder / "sbatch").chmod(0o755)
    case.environment["PATH"] = f"{folder}:{case.slurm.environment['PATH']}"


@pytest.fixture(scope="module")
def cases(slurm: Testbed) -> Iterator[dict[str, Case]]:
    """All of them, side by side: most of the time they wait."""
    found = {name: Case(slurm, f"end-{name.replace(' ', '-')}", text) for name, text in SCRIPTS.items()}
    with_refusing_sbatch(found["refused"])
    for name, case in found.items():
        case.submit(*OPTIONS.get(name, []))
    for name in ("node lost", "batch host lost", "cancelled", "requeued"):
        found[name].until(lambda case=found[name]: (case.folder / "checkpoints").is_dir())
    slurm.run(["scancel", found["cancelled"].job_id])
    slurm.run(["scontrol", "requeue", found["requeued"].job_id])
    slurm.kill_node(LOST)
    for case in found.values():
        case.wait(150)
    yield found
    slurm.heal()


@pytest.mark.parametrize("name", ["node lost", "batch host lost", "time limit", "bad node"])
def test_the_next_batch_job_goes_on_from_the_checkpoint(name: str, cases: dict[str, Case]) -> None:
    case = cases[name]
    assert case.output.count("run 0") == case.output.count("run 1") == case.output.count("after 0") == 1, case.output
    assert case.ended == {0, 1}
    assert not case.lines("twice")
    *_, (_, _, first, _) = case.lines("lives")
    assert int(first) > 0


@pytest.mark.parametrize("name", ["node lost", "batch host lost"])
def test_it_is_elsewhere_than_the_node_that_was_lost(name: str, cases: dict[str, Case]) -> None:
    lives = cases[name].lines("lives")
    assert LOST in {node for _, _, _, node in lives[:2]}
    assert LOST not in {node for _, _, _, node in lives[2:]}


def test_the_time_limit_is_no_failure(cases: dict[str, Case]) -> None:
    case = cases["time limit"]
    assert case.lives(1) == case.lives(2) == {0, 1}
    assert "the time limit is near" in case.output
    assert case.state_of(case.job_id) == "FAILED"
    assert "TIMEOUT" not in case.output


def test_a_node_on_which_ranks_die_again_and_again_is_left_for_the_next_batch_job(cases: dict[str, Case]) -> None:
    case = cases["bad node"]
    ((bad,),) = case.lines("bad-node")
    nodes = [node for _, rank, _, node in case.lines("lives") if rank == "1"]
    assert nodes[-1] != bad
    assert set(nodes[:-1]) == {bad}
    assert f"without {bad}" in case.output


def test_what_the_user_has_cancelled_does_not_run_again(cases: dict[str, Case]) -> None:
    case = cases["cancelled"]
    assert case.lives(1) == {0, 1}
    assert case.lives(2) == case.ended == set()
    assert case.output.count("run 0") == 1
    assert "run 1" not in case.output
    assert case.state_of(case.job_id) == "CANCELLED"
    assert case.alive == 0


def test_without_a_successor_nothing_waits(cases: dict[str, Case]) -> None:
    case = cases["alone"]
    assert case.ended == {0, 1}
    assert "successor" not in case.output
    (chain,) = case.state.glob("2*/chain.json")
    assert '"successor": ""' in chain.read_text()


def test_where_no_job_may_submit_another_it_says_so_and_goes_on(cases: dict[str, Case]) -> None:
    case = cases["refused"]
    assert case.ended == {0, 1}
    assert case.output.count("hedgerow: no batch job could be submitted that goes on after this one") == 1
    assert "Access/permission denied" in case.output


def test_a_job_that_slurm_itself_requeues_goes_on_in_its_next_run(cases: dict[str, Case]) -> None:
    case = cases["requeued"]
    assert "run 1" in case.output, case.output
    assert "after 0" in case.output
    assert case.ended == {0, 1}
    assert not case.lines("twice")
    assert int(case.lines("lives")[-1][2]) > 0
    assert case.state_of(case.job_id) == "COMPLETED"


def test_a_node_without_which_there_is_no_room_is_not_left(cases: dict[str, Case]) -> None:
    case = cases["no room"]
    assert "train stays on n4: " in case.output
    assert case.output.count("after") == 1
    assert "run 1" not in case.output
    assert case.state_of(case.job_id) == "FAILED"
