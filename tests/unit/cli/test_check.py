"""`hedgerow check` without a cluster: findings, exit codes, and the same as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.cli.check import ERRORS, NO_ERRORS, UNREADABLE, CheckOptions, run_check
from tests.unit.cli.check_builders import local, manifest

HEADER = "apiVersion: hedgerow.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: a}\n"


def write(folder: Path, *objects: Any) -> str:
    """A file with these objects."""
    path = folder / "job.yaml"
    path.write_text("\n---\n".join(one if isinstance(one, str) else json.dumps(one) for one in objects))
    return str(path)


def checked(path: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, str]]]:
    """The exit code, and the findings as JSON has them."""
    code = run_check(path, CheckOptions(), "json")
    return code, json.loads(capsys.readouterr().out)["findings"]


CODES: dict[str, tuple[str, int]] = {
    "a job that is fine": (json.dumps(manifest(checkpoint={"directory": "/c"})), NO_ERRORS),
    "a field that is not known": (
        HEADER + "spec: {workers: 1, ranksPerWorker: 1, gpus: 8, local: {command: [a]}}",
        ERRORS,
    ),
    "a rule that is broken": (HEADER + "spec: {workers: 1, ranksPerWorker: 1}", ERRORS),
    "text that is no YAML": ("a: [", UNREADABLE),
    "a key written twice": (HEADER + "kind: x\n", UNREADABLE),
    "no job at all": ("apiVersion: v1\nkind: Pod\n", UNREADABLE),
}


@pytest.mark.parametrize("case", CODES)
def test_the_exit_code_of(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, want = CODES[case]
    code, findings = checked(write(tmp_path, text), capsys)
    assert code == want
    assert any(finding["level"] == "error" for finding in findings) == (want != NO_ERRORS)


def test_a_file_that_is_not_there_is_unreadable(capsys: pytest.CaptureFixture[str]) -> None:
    code, (finding,) = checked("/nowhere/job.yaml", capsys)
    assert code == UNREADABLE
    assert (finding["where"], finding["sentence"]) == ("/nowhere/job.yaml", "no such file or folder")


def test_each_finding_has_a_level_a_topic_a_sentence_a_place_and_its_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _code, findings = checked(write(tmp_path, manifest()), capsys)
    assert {frozenset(finding) for finding in findings} == {frozenset({"level", "about", "sentence", "where", "job"})}
    assert {finding["job"] for finding in findings} == {"default/llama"}


def test_people_get_a_line_each_and_the_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_check(write(tmp_path, manifest()), CheckOptions(), None)
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first == "default/llama"
    assert last == "no errors, 1 warning"
    assert all(line.split()[0] in ("fine", "warning") for line in lines)


def test_a_word_that_kubectl_reads_otherwise_is_a_warning_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = HEADER + "spec:\n  workers: 1\n  ranksPerWorker: 1\n  local:\n    command: [sh, -c, yes]\n"
    path = write(tmp_path, text)
    code, findings = checked(path, capsys)
    (told,) = (finding for finding in findings if finding["about"] == "yaml")
    assert code == NO_ERRORS
    assert (told["level"], told["where"]) == ("warning", f"{path}:8")
    assert told["sentence"] == "yes is text here and true to kubectl; put it in quotes if it is text"


def test_a_claim_beside_the_job_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = manifest(
        container={"volumeMounts": [{"name": "v", "mountPath": "/ckpt"}]},
        pod={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "ckpt"}}]},
        checkpoint={"directory": "/ckpt"},
        workers=2,
    )
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "ckpt"},
        "spec": {"accessModes": ["ReadWriteOnce"]},
    }
    _code, findings = checked(write(tmp_path, claim, job), capsys)
    assert any("which is ReadWriteOnce" in finding["sentence"] for finding in findings)


LOCAL: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "a script that is there": (["python3", "train.py"], {}, ""),
    "a script that is not": (["python3", "gone.py"], {}, "there is no file"),
    "a program that is not": (["no-such-program"], {}, "there is no program no-such-program in PATH"),
    "a program of the folder that is not": (["./train"], {}, "there is no program ./train in"),
    "a module, whose arguments may be files": (["python3", "-m", "json.tool", "gone.py"], {}, ""),
    "a checkpoint directory that is a file": (
        ["python3"],
        {"checkpoint": {"directory": "train.py"}},
        "is no directory",
    ),
    "a checkpoint directory to be made": (["python3"], {"checkpoint": {"directory": "a/b"}}, ""),
}


@pytest.mark.parametrize("case", LOCAL)
def test_a_local_job_with(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, spec, want = LOCAL[case]
    (tmp_path / "train.py").touch()
    code, findings = checked(write(tmp_path, local(command, **spec)), capsys)
    errors = [finding["sentence"] for finding in findings if finding["level"] == "error"]
    assert code == (ERRORS if want else NO_ERRORS)
    assert [want in sentence for sentence in errors] == ([True] if want else [])


def test_a_working_directory_that_is_missing_is_the_only_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = local(["no-such-program"])
    job["spec"]["local"]["workingDir"] = "gone"
    _code, findings = checked(write(tmp_path, job), capsys)
    (error,) = (finding for finding in findings if finding["level"] == "error")
    assert error["sentence"] == f"workingDir: there is no directory {tmp_path}/gone; write one that exists"


def test_a_cluster_that_is_nowhere_is_an_error_beside_what_was_found_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    code = run_check(write(tmp_path, manifest()), CheckOptions(context=""), "json")
    first, *others = json.loads(capsys.readouterr().out)["findings"]
    assert (code, first["level"], first["about"]) == (ERRORS, "error", "cluster")
    assert "set KUBECONFIG" in first["sentence"]
    assert "command" in {finding["about"] for finding in others}
