"""`hedgerow check` and `hedgerow render` of a job for Slurm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from hedgerow_operator.cli.check import ERRORS, NO_ERRORS, CheckOptions, run_check
from hedgerow_operator.cli.render import show_rendered
from hedgerow_operator.core.slurm.sbatch_lines import flags_in
from tests.unit.cli.check_builders import Fields, manifest


def slurm(script: str = "python train.py", *, spec: dict[str, Any] | None = None, **fields: Any) -> Fields:
    """A TrainingJob for Slurm with a checkpoint directory."""
    made = manifest(workers=2, ranksPerWorker=4, checkpoint={"directory": "/shared/ckpt"}, **(spec or {}))
    del made["spec"]["kubernetes"]
    made["spec"]["slurm"] = {"gres": "gpu:4", "script": script, **fields}
    return made


def findings(job: Fields, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """The exit code, and LEVEL: SENTENCE of what is not fine."""
    path = folder / "job.yaml"
    path.write_text(json.dumps(job))
    code = run_check(str(path), CheckOptions(), "json")
    found = json.loads(capsys.readouterr().out)["findings"]
    return code, [f"{one['level']}: {one['sentence']}" for one in found if one["level"] != "fine"]


def rendered(job: Fields, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed for this job."""
    path = folder / "job.yaml"
    path.write_text(json.dumps(job))
    show_rendered(str(path), None, None, Path("/state"))
    return capsys.readouterr().out


def test_nothing_is_said_against_a_plain_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(slurm(), tmp_path, capsys) == (NO_ERRORS, [])


SAID: dict[str, tuple[Fields, int, str]] = {
    "no GPU": (slurm(gres=""), NO_ERRORS, "warning: slurm.gres is not set, so no GPU is asked for"),
    "a line that does not count": (
        slurm("#!/bin/sh\n#SBATCH -N 8 --mem=9G\nsrun python train.py"),
        NO_ERRORS,
        "warning: the script's #SBATCH -N 8 does not count",
    ),
    "a line that is broken": (slurm('#SBATCH --comment="a\npython train.py'), ERRORS, "error: script: line 1: "),
    "several kinds of nodes": (
        slurm("#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -N 2\nsrun a"),
        ERRORS,
        "error: script: it asks for a heterogeneous job",
    ),
    "a launch that its own srun decides": (
        slurm("srun python train.py", launch="PerTask"),
        NO_ERRORS,
        "warning: launch: PerTask says nothing here",
    ),
}


@pytest.mark.parametrize(("job", "code", "said"), SAID.values(), ids=SAID.keys())
def test_a_job_is_told_of(
    job: Fields, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, sentences = findings(job, tmp_path, capsys)
    assert found == code
    assert any(sentence.startswith(said) for sentence in sentences), sentences


def test_what_is_shown_is_a_file_that_sbatch_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = rendered(slurm("torchrun train.py"), tmp_path, capsys)
    assert text.splitlines()[:5] == [
        "#!/bin/bash",
        "# default/llama: the batch job that is submitted for the first attempt",
        "# launch:  PerWorker; torchrun starts the ranks itself",
        "# ranks:   2 workers x 4 = 8; the command is started once in each worker, with PET_NNODES=2 "
        "PET_NPROC_PER_NODE=4",
        "# resume:  HEDGEROW_RESUME_FROM names the newest whole checkpoint in /shared/ckpt, unset without one",
    ]
    options = {flag.name: flag.value for flag in flags_in(text)}
    assert (options["nodes"], options["chdir"]) == ("2", str(tmp_path))


LAUNCHES = {
    "by srun": (slurm("srun python train.py"), "by srun; the script calls srun"),
    "one a rank": (slurm(launch="PerTask"), "PerRank; srun starts each of them"),
    "of a script in Python": (slurm("#!/usr/bin/env python3\nimport train"), "PerRank; the command starts no ranks"),
    "as the manifest says": (slurm(spec={"processes": "PerWorker"}), "PerWorker; as spec.processes says"),
}


@pytest.mark.parametrize(("job", "said"), LAUNCHES.values(), ids=LAUNCHES.keys())
def test_the_launch_is_told(job: Fields, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"# launch:  {said}" in rendered(job, tmp_path, capsys)


def test_a_line_that_is_broken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.ClickException, match=r"spec\.slurm\.script: line 1"):
        rendered(slurm('#SBATCH --comment="a\npython train.py'), tmp_path, capsys)
