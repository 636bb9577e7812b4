"""The quickstart's manifests are valid, and its parts do what its story says."""

import struct
import sys
from pathlib import Path

import pytest

from hedgerow.checkpoints import scan
from hedgerow.wire import CHECKPOINT_COMPLETE, CHECKPOINT_INVALID
from hedgerow_operator.adapters.local.launch import command_line, launcher_environment
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.manifests import load_manifests
from hedgerow_operator.cli.demo import find_example
from tests.local.builders import local_job
from tests.local.processes import EXAMPLE


@pytest.mark.parametrize("name", ["trainingjob.yaml", "trainingjob-kubernetes.yaml"])
def test_the_manifest_is_accepted(name: str) -> None:
    found = load_manifests(str(EXAMPLE / name))
    assert (found.errors, len(found.jobs)) == ((), 1)


def test_the_demo_finds_the_example() -> None:
    assert find_example() == EXAMPLE


def test_a_torn_checkpoint_of_the_example_is_invalid_and_a_whole_one_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import checkpoint

    whole = checkpoint.save(str(tmp_path), 20, [1.0, 2.0, 3.0])
    checkpoint.save(str(tmp_path), 30, [1.0, 2.0, 3.0], torn=True)
    assert checkpoint.load(whole) == (20, [1.0, 2.0, 3.0])
    with pytest.raises((struct.error, ValueError)):
        checkpoint.load(str(tmp_path / "step-000030.safetensors"))
    found = {candidate.step: candidate.validity for candidate in scan(str(tmp_path), "Content").candidates}
    assert found == {20: CHECKPOINT_COMPLETE, 30: CHECKPOINT_INVALID}


def test_a_launcher_inherits_no_orders_of_another_and_no_python_settings(tmp_path: Path) -> None:
    job, paths = local_job(tmp_path), StatePaths(tmp_path)
    inherited = {"HEDGEROW_RESUME_FROM": "/elsewhere", "PATH": "/bin", "PYTHONPATH": "/theirs"}
    variables = launcher_environment(job, 3, 1, paths, inherited)
    assert "HEDGEROW_RESUME_FROM" not in variables
    assert (variables["PATH"], variables["PYTHONPATH"]) == ("/bin", "/theirs")
    assert (variables["HEDGEROW_PLACEMENT"], variables["HEDGEROW_WORKER"]) == ("3", "1")
    assert variables["HEDGEROW_FENCE_SECONDS"] == "0"
    assert job.spec.local is not None
    words = command_line(job.spec.local, tmp_path / "hedgerow.pyz", tmp_path / "exit")
    assert words[5:8] == [sys.executable, "-E", str(tmp_path / "hedgerow.pyz")]


def test_how_the_ranks_are_started_is_passed_on_only_where_it_is_said(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path)
    said = launcher_environment(local_job(tmp_path, processes="PerWorker"), 1, 0, paths, {})
    unsaid = launcher_environment(local_job(tmp_path), 1, 0, paths, {"HEDGEROW_PROCESSES": "PerRank"})
    assert (said["HEDGEROW_PROCESSES"], "HEDGEROW_PROCESSES" in unsaid) == ("PerWorker", False)
