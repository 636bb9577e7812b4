"""`hedgerow checkpoints` says what lies in a directory, and gives back what was set aside."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hedgerow.checkpoints import aside
from hedgerow.checkpoints.reader import Reader
from hedgerow_operator.cli.checkpoints import checkpoints
from tests.unit.agent.checkpoint_trees import LEGACY_PICKLE, archive, torn


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A whole checkpoint, one that cannot be verified, and a torn one."""
    for name, data in (("step-10.npz", archive()), ("step-20.pt", LEGACY_PICKLE), ("step-30.npz", torn(archive()))):
        (tmp_path / name).write_bytes(data)
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(checkpoints, [str(argument) for argument in arguments])


def set_aside(directory: Path) -> None:
    reader = Reader(str(directory))
    reader.scan(quiet=True)
    reader.remember_rest()
    assert aside.set_aside(reader, str(directory), str(directory / "step-10.npz"), [], attempt=1, worker=0)


def test_each_candidate_is_told_with_its_step_and_what_is_wrong_with_it(directory: Path) -> None:
    assert run(directory).output.splitlines() == [
        f"step 30  Invalid  file  {directory}/step-30.npz  (step-30.npz is torn: its end is missing)",
        f"step 20  NotVerified  file  {directory}/step-20.pt  (step-20.pt is a pickle, which is never opened)",
        f"step 10  Complete  file  {directory}/step-10.npz",
    ]


def test_what_was_set_aside_is_listed_and_given_back(directory: Path) -> None:
    set_aside(directory)
    listed = run(directory).output.splitlines()
    assert listed[-2:] == [
        "set aside  step-30.npz.hedgerow-invalid  (step-30.npz is torn: its end is missing)",
        "hedgerow checkpoints --restore gives back their names to those that were set aside",
    ]
    assert [entry["name"] for entry in json.loads(run(directory, "-o", "json").output)["setAside"]] == ["step-30.npz"]
    assert run("--restore", directory).output == f"{directory}/step-30.npz is there again\n"
    assert run("--restore", directory).output == f"nothing in {directory} was set aside\n"
    found = json.loads(run(directory, "-o", "json").output)
    assert [(entry["step"], entry["validity"]) for entry in found["checkpoints"]] == [
        (30, "Invalid"),
        (20, "NotVerified"),
        (10, "Complete"),
    ]
    assert found["setAside"] == []


def test_a_path_that_is_no_directory_is_one_sentence(tmp_path: Path) -> None:
    result = run(tmp_path / "none")
    assert result.exit_code != 0
    assert f"{tmp_path}/none is no directory" in result.output


def test_an_empty_directory_has_none(tmp_path: Path) -> None:
    assert run(tmp_path).output == "no checkpoints\n"
