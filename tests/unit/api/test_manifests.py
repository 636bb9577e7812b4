"""Files, folders and standard input are searched for TrainingJobs."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from hedgerow_operator.api.manifests import load_manifests
from tests.unit.api.manifests_of_tests import HEAD, MINIMAL, parse

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"


def test_all_documents_of_a_file_are_found_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_text(MINIMAL % "a" + "---\n" + MINIMAL % "b")
    found = load_manifests(str(path))
    assert [(job.job.metadata.name, job.where) for job in found.jobs] == [("a", f"{path}:1"), ("b", f"{path}:6")]
    assert found.jobs[0].folder == tmp_path


def test_a_folder_gives_its_manifests_in_order_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "b.yml").write_text(MINIMAL % "b")
    (tmp_path / "a.yaml").write_text(MINIMAL % "a")
    (tmp_path / "c.json").write_text(
        '{"apiVersion": "hedgerow.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "c"},'
        ' "spec": {"workers": 1, "ranksPerWorker": 1, "local": {"command": ["a"]}}}'
    )
    (tmp_path / "readme.md").write_text("# not a manifest: {{")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "d.yaml").write_text(MINIMAL % "d")
    found = load_manifests(str(tmp_path))
    assert [job.job.metadata.name for job in found.jobs] == ["a", "b", "c"]
    assert found.errors == ()


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(MINIMAL % "a"))
    (found,) = load_manifests("-").jobs
    assert found.where == "standard input:1"
    assert found.folder == Path.cwd()


def test_other_kinds_are_skipped_with_a_note() -> None:
    found = parse(CONFIG_MAP + "---\n" + MINIMAL % "a")
    assert found.notes == ("jobs.yaml:1: skipped ConfigMap, which needs a cluster",)
    assert found.errors == ()
    assert len(found.jobs) == 1


def test_a_list_as_kubectl_prints_it_is_opened_and_its_status_left_out() -> None:
    item = (
        "- apiVersion: hedgerow.dev/v1alpha1\n  kind: TrainingJob\n"
        "  metadata: {name: a, uid: u, generation: 1, managedFields: [{manager: kubectl}], resourceVersion: '5'}\n"
        "  spec: {workers: 1, ranksPerWorker: 1, local: {command: [a]}}\n  status: {attempt: 3, state: Running}\n"
    )
    (found,) = parse("apiVersion: v1\nkind: List\nitems:\n" + item).jobs
    assert found.where == "jobs.yaml:4"
    assert found.job.status.attempt == 0


def test_every_mistake_of_a_manifest_is_told_at_its_own_line() -> None:
    text = HEAD + "metadata:\n  name: a\nspec:\n  workers: 0\n  rankPerWorker: 2\n  local:\n    command: [a]\n"
    assert [str(error) for error in parse(text).errors] == [
        "jobs.yaml:6: spec.workers: should be greater than or equal to 1, got 0",
        'jobs.yaml:7: unknown field "spec.rankPerWorker"; did you mean "ranksPerWorker"?',
        "jobs.yaml:5: spec.ranksPerWorker: Required value. Number of ranks (training processes) in each worker.",
    ]


MISTAKES = {
    "text where a number belongs": (
        "workers: four",
        'spec.workers: must be of type integer (a whole number), got text "four"',
    ),
    "a truth where a number belongs": (
        "workers: true",
        "spec.workers: must be of type integer (a whole number), got true",
    ),
    "a broken number": ("workers: 2.5", "spec.workers: must be of type integer (a whole number), got 2.5"),
    "a number written as text": (
        'workers: "4"',
        'spec.workers: must be of type integer (a whole number), got text "4"; write 4',
    ),
    "a duration for seconds": (
        "activeDeadlineSeconds: 30s",
        'spec.activeDeadlineSeconds: must be of type integer (a whole number), got text "30s"; write 30',
    ),
    "a duration in minutes": (
        "activeDeadlineSeconds: 2 min",
        'spec.activeDeadlineSeconds: must be of type integer (a whole number), got text "2 min"; write 120',
    ),
    "a part of a second for seconds": (
        "activeDeadlineSeconds: 500ms",
        'spec.activeDeadlineSeconds: must be of type integer (a whole number), got text "500ms"',
    ),
    "a duration where nothing is one": (
        "workers: 30s",
        'spec.workers: must be of type integer (a whole number), got text "30s"',
    ),
    "text for a truth": (
        'suspend: "yes"', 'spec.suspend: must be of type boolean (true or false), got text "yes"; write true'
    ),
    "a command as a shell takes it": (
        """local: {command: python3 train.py --tag 'my run' --lr 3}""",
        'spec.local.command: must be of type array (a list), got text "python3 train.py --tag \'my run\' --lr 3"; '
        'write [python3, train.py, --tag, "my run", --lr, "3"]',
    ),
    "a command with a quote that does not close": (
        """local: {command: "echo it's"}""",
        'spec.local.command: must be of type array (a list), got text "echo it\'s"; write [echo, "it\'s"]',
    ),
    "one entry where a list of them belongs": (
        "alerts: {name: a}", "spec.alerts: must be of type array (a list), got an object; write a - before it"
    ),
    "a sum of money as a number": (
        "cost: {gpuHourUSD: 2.49}",
        "spec.cost.gpuHourUSD: must be of type string (text; quote numbers, true and false), got 2.49; write \"2.49\"",
    ),
    "a word in the wrong case": (
        "recovery: {mode: observe}",
        'spec.recovery.mode: "observe" is not supported; supported values: "Act", "Observe"; did you mean "Observe"?',
    ),
    "a word that is like no other": (
        "recovery: {mode: zzz}",
        'spec.recovery.mode: "zzz" is not supported; supported values: "Act", "Observe"',
    ),
    "a list where an object belongs": (
        "recovery: [Act]",
        "spec.recovery: must be of type object (indented fields), got a list",
    ),
    "a field that is like no other": ("zzz: 1", 'unknown field "spec.zzz"; known here: activeDeadlineSeconds, '),
}


@pytest.mark.parametrize(("line", "want"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_in_plain_words(line: str, want: str) -> None:
    rest = {"workers": "workers: 1", "ranksPerWorker": "ranksPerWorker: 1", "local": "local: {command: [a]}"}
    rest.pop(line.split(":")[0], None)
    text = HEAD + "metadata: {name: a}\nspec:\n" + "".join(f"  {entry}\n" for entry in (line, *rest.values()))
    (error,) = parse(text).errors
    assert error.where == "jobs.yaml:5"
    assert error.sentence.startswith(want)


WHOLE = {
    "a list": ("- a\n", "jobs.yaml:1: a manifest must be an object"),
    "no kind": (
        "a: 1\n",
        "jobs.yaml:1: apiVersion or kind is missing; write apiVersion: hedgerow.dev/v1alpha1 and kind: ",
    ),
    "a label that is a number": (
        HEAD + "metadata: {name: a, labels: {run: 7}}\nspec: {workers: 1, ranksPerWorker: 1, local: {command: [a]}}\n",
        "jobs.yaml:3: metadata.labels.run: must be of type string (text; quote numbers, true and false), got 7",
    ),
    "a namespace that is no name": (
        HEAD + "metadata: {name: a, namespace: ../b}\nspec: {workers: 1, ranksPerWorker: 1, local: {command: [a]}}\n",
        "jobs.yaml:3: metadata.namespace: write at most 63 lower-case letters",
    ),
    "text that is no YAML, with its line": (MINIMAL % "a" + "---\na: b: c\n", "jobs.yaml:6: not valid YAML:"),
    "the same job twice": (MINIMAL % "a" + "---\n" + MINIMAL % "a", 'jobs.yaml:6: job "a" is written at jobs.yaml:1 '),
}


@pytest.mark.parametrize(("text", "want"), WHOLE.values(), ids=WHOLE.keys())
def test_a_document_that_is_wrong_as_a_whole(text: str, want: str) -> None:
    (error,) = parse(text).errors
    assert str(error).startswith(want)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    (error,) = load_manifests(str(tmp_path / "gone.yaml")).errors
    assert str(error) == f"{tmp_path}/gone.yaml: no such file or folder"


def test_a_folder_without_manifests(tmp_path: Path) -> None:
    (error,) = load_manifests(str(tmp_path)).errors
    assert str(error) == f"{tmp_path}: holds no file that ends in .yaml, .yml, .json; folders in it are not looked into"


def test_a_pipe_is_not_called_missing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "job.yaml")
    (error,) = load_manifests(str(tmp_path / "job.yaml")).errors
    assert str(error) == f"{tmp_path}/job.yaml: neither a file nor a folder; to read from a pipe, write -f -"


def test_a_file_without_jobs(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CONFIG_MAP)
    (error,) = load_manifests(str(tmp_path / "a.yaml")).errors
    assert str(error) == f"{tmp_path}/a.yaml: holds no TrainingJob; write at least one"


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: \xff\n")
    (error,) = load_manifests(str(tmp_path / "a.yaml")).errors
    assert str(error) == f"{tmp_path}/a.yaml: is not UTF-8 text (byte 3)"


def test_one_broken_file_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [")
    (tmp_path / "b.yaml").write_text(MINIMAL % "b")
    found = load_manifests(str(tmp_path))
    assert len(found.errors) == 1
    assert [job.job.metadata.name for job in found.jobs] == ["b"]
