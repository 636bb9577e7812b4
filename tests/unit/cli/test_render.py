"""`hedgerow render`: what would be created, the same each time, without a cluster."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from hedgerow_operator.api.yaml_text import read_documents
from hedgerow_operator.build.placement import placement_job
from hedgerow_operator.cli.render import DEFAULT_REPORT_URL, show_rendered
from tests.unit.build.examples import INJECTION
from tests.unit.cli.check_builders import Fields, local, manifest


def rendered(folder: Path, capsys: pytest.CaptureFixture[str], *jobs: Fields, **options: Any) -> str:
    """What is printed for these jobs."""
    path = folder / "job.yaml"
    path.write_text("\n---\n".join(map(json.dumps, jobs)))
    show_rendered(str(path), options.get("report_url"), options.get("image"), Path("/state"))
    return capsys.readouterr().out


def test_the_job_is_the_one_that_the_operator_builds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hedgerow_operator.api.training_job import training_job

    fields = manifest(["torchrun", "a.py"], workers=2, ranksPerWorker=8)
    fields["metadata"]["uid"] = "8e6e7a9c"
    text = rendered(tmp_path, capsys, fields, report_url=INJECTION.report_url, image=INJECTION.image)
    (document,) = read_documents(text)
    assert document.fields == placement_job(training_job(fields), 1, (), INJECTION)


def test_comment_lines_say_mode_ranks_and_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = rendered(tmp_path, capsys, manifest(["torchrun", "--nnodes=2", "a.py"], workers=2, ranksPerWorker=8))
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert head == [
        "# default/llama: the Job that the operator creates for the first attempt",
        "# launch:  PerWorker; torchrun starts the ranks itself",
        "# ranks:   2 workers x 8 = 16; the command is started once in each worker, with PET_NNODES=2 "
        "PET_NPROC_PER_NODE=8",
        "# ours:    torchrun's --nnodes=2 give way to these numbers",
        "# resume:  spec.checkpoint is not set: every attempt begins at step 0, as far as Hedgerow knows",
    ]


def test_without_options_it_is_as_the_chart_installs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = rendered(tmp_path, capsys, manifest())
    assert DEFAULT_REPORT_URL in text
    assert "hedgerow/hedgerow-operator:" in text


def test_the_same_manifest_gives_the_same_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = (manifest(), local(["python3", "a.py"]))
    jobs[1]["metadata"]["name"] = "other"
    assert rendered(tmp_path, capsys, *jobs) == rendered(tmp_path, capsys, *jobs)


def test_a_local_job_shows_each_process_with_its_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = local(["torchrun", "a.py"], workers=2, ranksPerWorker=4, checkpoint={"directory": "out"})
    job["spec"]["local"] |= {"workingDir": "sub", "env": [{"name": "LR", "value": "yes"}]}
    (document,) = read_documents(rendered(tmp_path, capsys, job))
    first, second = document.fields["processes"]
    assert (first["worker"], second["worker"]) == (0, 1)
    assert first["workingDir"] == str(tmp_path / "sub")
    assert first["command"] == [sys.executable, "-E", "hedgerow.pyz", "run", "--", "torchrun", "a.py"]
    assert second["environment"]["HEDGEROW_WORKER"] == "1"
    assert second["environment"]["HEDGEROW_CHECKPOINT_DIRECTORY"] == str(tmp_path / "sub" / "out")
    assert second["environment"]["LR"] == "yes"
    assert document.ambiguities == ()


def test_several_jobs_are_several_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = manifest()
    other["metadata"]["name"] = "other"
    documents = list(read_documents(rendered(tmp_path, capsys, manifest(), other)))
    assert [document.fields["metadata"]["name"] for document in documents] == ["llama-1", "other-1"]


def test_a_manifest_that_is_wrong_gets_its_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.ClickException) as caught:
        rendered(tmp_path, capsys, manifest(workers=0))
    assert "spec.workers: should be greater than or equal to 1, got 0" in caught.value.message
