"""Bad input: exit code 2, one sentence that says what is wrong, where, and what to write instead."""

import errno
import os
from pathlib import Path

import pytest

from hedgerow import pack
from hedgerow_operator.adapters.local.archive import ensure_archive
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.conditions import SUCCEEDED
from tests.local.processes import MANIFEST, LocalRun

GOOD = MANIFEST.format(
    python="python3", script="train.py", env=[], folder="/tmp", workers=1, ranks=1, mode="Act", grace=1
)
LOCAL = GOOD[GOOD.index("  local:") : GOOD.index("  checkpoint:")]
KUBERNETES = """
  kubernetes: {template: {spec: {containers: [{name: train, image: i, command: [python3, t.py]}]}}}
"""

BAD = {
    "a job for a cluster": (
        GOOD.replace(LOCAL, KUBERNETES.lstrip("\n")),
        "run `kubectl apply` on it there, or write spec.local",
    ),
    "no TrainingJob": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "holds no TrainingJob"),
    "no YAML": ("spec: [", "job.yaml:"),
    "text for a number": (GOOD.replace("workers: 1", "workers: one"), "spec.workers"),
    "an unknown field": (GOOD.replace("workers: 1", "wrokers: 1"), "workers"),
    "a NUL in the command": (GOOD.replace('"train.py"', '"train\\0.py"'), "spec.local.command[1]: "),
    "a NUL in workingDir": (GOOD.replace("    env:", '    workingDir: "a\\0"\n    env:'), "spec.local.workingDir: "),
    "a workingDir too long for a name": (
        GOOD.replace("    env:", f"    workingDir: {'a' * 4000}\n    env:"),
        "spec.local.workingDir: there is no directory",
    ),
    "the namespace of the lock": (GOOD.replace("{name: run}", "{name: run, namespace: lock}"), "metadata.namespace: "),
    "a number without end": (GOOD.replace("workers: 1", f"workers: {'9' * 5000}"), "job.yaml:6: "),
    "a tag that does not fit": (GOOD.replace("workers: 1", "workers: !!int abc"), "job.yaml:6: "),
    "a folder that does not exist": (
        GOOD.replace("    env:", "    workingDir: nowhere\n    env:"),
        "spec.local.workingDir: there is no directory",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(case: str, run: LocalRun) -> None:
    text, sentence = BAD[case]
    run.manifest.write_text(text)
    code, output = run.run()
    assert code == 2, output
    assert sentence in output
    assert output.startswith("hedgerow: ")
    assert output.count("\n") == 1, output


def test_a_manifest_that_is_not_there_is_named(run: LocalRun) -> None:
    code, output = run.run()
    assert (code, output) == (2, f"hedgerow: {run.manifest}: no such file or folder\n")


def test_a_change_that_a_running_job_cannot_follow_is_refused(run: LocalRun) -> None:
    run.write(env={"STEPS": "3"})
    assert run.run()[0] == 0
    run.write(env={"STEPS": "3"}, ranks=3)
    code, output = run.run()
    assert code == 2
    assert "ranksPerWorker cannot change after creation" in output


def test_a_damaged_state_is_named_and_left_as_it_is(run: LocalRun) -> None:
    run.write()
    path = run.state / "default" / "TrainingJob" / "run.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("half of\n")
    code, output = run.run()
    assert code == 2
    assert f"{path} is damaged" in output
    assert path.read_text() == "half of\n"


def test_a_damaged_record_of_a_placement_is_named(run: LocalRun) -> None:
    run.write()
    path = run.state / "default" / "run" / "placement-1" / "placement.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    code, output = run.run()
    assert code == 2
    assert f"{path} is not what hedgerow wrote there" in output
    assert output.count("\n") == 1


def in_the_way(path: Path, kind: str) -> None:
    """Put something where hedgerow keeps a file or a folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "directory":
        path.mkdir()
    else:
        path.write_bytes(b"\xff\xfe")


IN_THE_WAY = {
    "the object's file is a directory": ("default/TrainingJob/run.yaml", "directory"),
    "the object's file is not UTF-8": ("default/TrainingJob/run.yaml", "bytes"),
    "the namespace's folder is a file": ("default", "bytes"),
    "the job's folder is a file": ("default/run", "bytes"),
    "the token is a directory": ("default/run/token", "directory"),
    "the token is not UTF-8": ("default/run/token", "bytes"),
    "the record is a directory": ("default/run/placement-1/placement.json", "directory"),
    "the record is not UTF-8": ("default/run/placement-1/placement.json", "bytes"),
    "the address is a directory": ("address", "directory"),
    "the lock is a directory": ("lock", "directory"),
}


@pytest.mark.parametrize(("name", "kind"), IN_THE_WAY.values(), ids=IN_THE_WAY.keys())
def test_what_is_in_the_way_in_the_state_directory_is_named(name: str, kind: str, run: LocalRun) -> None:
    in_the_way(run.write().state / name, kind)
    code, output = run.run()
    assert code == 2, output
    assert str(run.state) in output
    assert output.count("\n") == 1, output


def test_a_folder_for_temporary_files_that_refuses_is_named(run: LocalRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "write", full_disk)
    with pytest.raises(StateError, match=r"the launcher cannot be written .*No space left on device.*TMPDIR"):
        ensure_archive(StatePaths(run.state))


def full_disk(path: str, compiled: bool = False) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


def test_a_reader_that_leaves_does_not_stop_the_job(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "5"}).start()
    assert controller.stdout is not None
    controller.stdout.readline()
    controller.stdout.close()
    assert controller.wait(90) == 0
    assert run.holds(SUCCEEDED)


def test_an_unknown_option_is_one_sentence(run: LocalRun) -> None:
    run.write()
    code, output = run.run("--stat-dir", "x")
    assert code == 2
    assert output.startswith("hedgerow: No such option")
    assert output.count("\n") == 1


def test_a_folder_of_manifests_runs_them_all_and_fails_if_one_does(run: LocalRun, tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    run.write(env={"STEPS": "3"})
    good = run.manifest.read_text()
    (folder / "good.yaml").write_text(good)
    (folder / "bad.yaml").write_text(good.replace("name: run", "name: other").replace("train.py", "missing.py"))
    run.manifest = folder
    code, output = run.run()
    assert code == 1
    assert "default/run succeeded" in output
    assert "default/other failed" in output
