"""The ways in which a script of a TrainingJob becomes ranks on a real Slurm; a stall is healed in each."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow_operator.api import reasons
from tests.slurm.slurm_run import TRAIN, SlurmRun
from tests.slurm.testbed.testbed import Testbed

MANIFEST = """
apiVersion: hedgerow.dev/v1alpha1
kind: TrainingJob
metadata: {{name: run}}
spec:
  workers: 2
  ranksPerWorker: 2
  slurm:
    timeLimit: "10"
    launch: {launch}
    options: {options}
    script: |
      #!/bin/bash
      {directive}
      export CHECKPOINT_DIRECTORY={folder}/run/checkpoints STEPS=30 READ_SECONDS=0.05 TORN_STEP=-1
      export HANG_RANK=3 HANG_STEP=9 FAULTY_ATTEMPT=1
      {line} {python} {train}
  checkpoint: {{directory: "{folder}/run/checkpoints"}}
  health: {{stall: {{minSeconds: 2}}}}
  recovery: {{graceSeconds: 2, fenceSeconds: 10, backoff: {{initialSeconds: 0}}}}
"""
OWN = "srun --ntasks=1 --nodes=1 touch prepared; test -e prepared && srun"
WAYS = {
    "one launcher a node": {"launch": "PerNode"},
    "one launcher a rank": {"launch": "PerTask", "options": '{cpus-per-task: "2", distribution: "cyclic:block"}'},
    "by the script's own srun": {"line": OWN, "directive": "#SBATCH --mem=100M --nodes=4"},
}


@pytest.fixture
def run(fresh_slurm: Testbed, tmp_path: Path) -> Iterator[SlurmRun]:
    slurm_run = SlurmRun(fresh_slurm, tmp_path)
    yield slurm_run
    slurm_run.clean()
    assert slurm_run.overlaps == []


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_a_stall_is_healed_in_place_where_ranks_are_started(way: dict[str, str], run: SlurmRun) -> None:
    values = {"launch": "PerNode", "options": "{}", "line": "exec", "directive": "true", **way}
    text = MANIFEST.format(folder=run.folder, python=sys.executable, train=TRAIN, **values)
    (run.manifests / "run.yaml").write_text(text)
    run.start()
    code, output = run.end()
    assert code == 0, output + run.logs()
    job = run.job()
    assert job is not None
    assert [(entry.reason, entry.ranks) for entry in job.status.history] == [(reasons.NO_PROGRESS, (3,))]
    assert (job.status.attempt, run.reason("Succeeded")) == (2, reasons.ALL_RANKS_FINISHED)
    assert run.ranks() == {}
