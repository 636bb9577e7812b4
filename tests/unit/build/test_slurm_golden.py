"""Whole batch jobs, as they were reviewed: tests/golden/slurm/*.sh, each as sbatch would take it.

After a wanted change: ``python -m tests.unit.build.test_slurm_golden`` writes them anew; review the difference.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from hedgerow_operator.build.slurm.batch_file import batch_file
from hedgerow_operator.build.slurm.submission import submission
from hedgerow_operator.core.slurm.sbatch_lines import flags_in
from hedgerow_operator.core.slurm.seen import Submission
from tests.unit.build.slurm_examples import OWN_SRUN, PLACES, slurm_job

GOLDEN = Path(__file__).parents[2] / "golden" / "slurm"
CASES: dict[str, Callable[[], Submission]] = {
    "one-line-script": lambda: submission(slurm_job(), 1, (), PLACES),
    "a-launcher-for-each-rank": lambda: submission(
        slurm_job(launch="PerTask", options={"cpus-per-task": "12", "distribution": "cyclic:fcyclic", "mem": "0"}),
        1,
        (),
        PLACES,
    ),
    "own-srun-requeued-without-two-nodes": lambda: submission(
        slurm_job(script=OWN_SRUN, resubmit="Requeue", timeLimit="2-00:00:00"),
        1,
        ("n3", "n1"),
        structs.replace(PLACES, runs="/shared/hedgerow/runs", output="/shared/hedgerow/slurm.log"),
    ),
    "requeued-far-from-the-file-system": lambda: submission(
        slurm_job(resubmit="Requeue"), 1, (), structs.replace(PLACES, runs_in_comment=True)
    ),
    "far-from-the-file-system": lambda: submission(
        slurm_job(options={"chdir": "/shared/my run"}),
        2,
        (),
        structs.replace(PLACES, report_url="https://hedgerow.example", carried={PLACES.token_file: b"a token"}),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_batch_job_is_the_reviewed_one(name: str) -> None:
    assert batch_file(CASES[name]()) == (GOLDEN / f"{name}.sh").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_sbatch_reads_the_options_of_the_file_as_they_are(name: str) -> None:
    wanted = CASES[name]()
    read = {flag.name: flag.value or "" for flag in flags_in(batch_file(wanted))}
    ours = {"job-name": wanted.name, "comment": wanted.comment, "chdir": wanted.directory}
    assert read == {**ours, **wanted.options}


@pytest.mark.parametrize("name", CASES)
def test_bash_takes_the_script(name: str) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run([bash, "-n"], input=CASES[name]().script, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, made in CASES.items():
        (GOLDEN / f"{name}.sh").write_text(batch_file(made()), encoding="utf-8")
