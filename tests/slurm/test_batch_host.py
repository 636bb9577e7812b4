"""Only slurmd dies on the first node of a batch job: its script lives on there, and nothing follows beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow_operator.api import reasons
from tests.slurm.sbatch_parts.played import submitted
from tests.slurm.sbatch_parts.scripts import LOST, script
from tests.slurm.slurm_run import SlurmRun
from tests.slurm.testbed.testbed import Testbed

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture
def run(fresh_slurm: Testbed, tmp_path: Path) -> Iterator[SlurmRun]:
    """A hedgerow local."""
    found = SlurmRun(fresh_slurm, tmp_path)
    yield found
    found.clean()


def test_a_training_job_goes_on_elsewhere_once_the_launcher_there_has_stopped_itself(run: SlurmRun) -> None:
    run.write(steps=100000).start()
    run.until_training(10)
    run.testbed.kill("slurmd.n1")
    run.until_training(attempt=2, seconds=600)
    assert {node for _, node in run.ranks().values()} == {"n2", "n3", "n4"}
    job = run.job()
    assert job is not None
    assert job.status.history[0].reason == reasons.NODE_LOST
    assert run.overlaps == []


def test_a_script_of_hedgerow_sbatch_ends_there_and_goes_on_in_the_next_batch_job(fresh_slurm: Testbed) -> None:
    # Longer than Slurm takes to give the node up.
    case = submitted(fresh_slurm, "batch host lost", script(exclude="n1", more="--nodes=2", steps=1600))
    case.until_saved()
    fresh_slurm.kill(f"slurmd.{LOST}")
    case.wait()
    case.keep_state()
    assert case.output.count("run 1") == case.output.count("after 0") == 1, case.output
    assert (case.ended, case.lines("twice")) == ({0, 1}, [])
    # A launcher without ranks may wait on there for its slurmd.
    assert [pid for pid in case.left if b"--slurm-launch" not in Path(f"/proc/{pid}/cmdline").read_bytes()] == []
    assert LOST not in {node for _, _, _, node in case.lines("lives")[2:]}
