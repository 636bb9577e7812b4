"""Reports say which checkpoints there are, and whether somebody may still be writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hedgerow import wire
from tests.launcher.launching import Launch, begin, python
from tests.launcher.operator_double import OperatorDouble
from tests.unit.agent.checkpoint_trees import archive, torn

SAVE = """
import os, shutil, time
shutil.copy(os.environ["SOURCE"], os.environ["HEDGEROW_CHECKPOINT_DIRECTORY"] + "/step-20.npz")
time.sleep(60)
"""


def scan_with(step: int, quiet: bool, attempt: int) -> object:
    def what(report: wire.Report) -> bool:
        scan = report.checkpoints
        return (
            scan is not None
            and (scan.quiet, scan.attempt) == (quiet, attempt)
            and any(candidate.step == step for candidate in scan.candidates)
        )

    return what


def test_checkpoints_are_found_before_during_and_after_an_attempt(
    launch: Launch, operator: OperatorDouble, tmp_path: Path
) -> None:
    directory = tmp_path / "checkpoints"
    directory.mkdir()
    (directory / "step-10.npz").write_bytes(archive())
    os.utime(directory / "step-10.npz", (1, 1))
    (tmp_path / "half").write_bytes(torn(archive()))
    launch(*python(SAVE), HEDGEROW_CHECKPOINT_DIRECTORY=str(directory), SOURCE=str(tmp_path / "half"))
    before = operator.wait_for(scan_with(10, True, 0))  # type: ignore[arg-type]
    operator.command(begin())
    operator.wait_for(scan_with(20, False, 1))  # type: ignore[arg-type]
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True))
    after = operator.wait_for(scan_with(20, True, 1))  # type: ignore[arg-type]
    assert before.checkpoints is not None
    assert after.checkpoints is not None
    assert [c.validity for c in before.checkpoints.candidates] == ["Complete"]
    assert [(c.step, c.validity) for c in after.checkpoints.candidates] == [(20, "Invalid"), (10, "Complete")]


def test_a_place_that_cannot_be_looked_at_is_told(launch: Launch, operator: OperatorDouble, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    launch(*python("pass"), HEDGEROW_CHECKPOINT_DIRECTORY=str(tmp_path / "file"))
    report = operator.wait_for(lambda r: r.checkpoints is not None)
    assert report.checkpoints is not None
    assert "Not a directory" in (report.checkpoints.error or "")


LOOK = """
import os, time
print(sorted(os.listdir(os.environ["HEDGEROW_CHECKPOINT_DIRECTORY"])))
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("on_invalid", "newest"),
    [("MoveAside", "step-20.npz.hedgerow-invalid"), ("Leave", "step-20.npz")],
    ids=["set aside", "left where the user wants it"],
)
def test_what_is_newer_than_the_chosen_checkpoint_and_torn_is(
    launch: Launch, operator: OperatorDouble, tmp_path: Path, on_invalid: str, newest: str
) -> None:
    directory = tmp_path / "checkpoints"
    directory.mkdir()
    (directory / "step-10.npz").write_bytes(archive())
    (directory / "step-20.npz").write_bytes(torn(archive()))
    launcher = launch(
        *python(LOOK), HEDGEROW_CHECKPOINT_DIRECTORY=str(directory), HEDGEROW_CHECKPOINT_ON_INVALID=on_invalid
    )
    operator.wait_for(lambda r: r.checkpoints is not None)
    operator.command(begin(resume_from=str(directory / "step-10.npz")))
    report = operator.wait_for(lambda r: r.ranks and r.ranks[0].output_tail)
    assert repr(newest) in report.ranks[0].output_tail[0]
    assert (directory / newest).exists()
    said = [f"{directory}/step-20.npz is set aside as {newest}: step-20.npz is torn: its end is missing"]
    assert report.set_aside == (said if on_invalid == "MoveAside" else [])
    assert all(line in launcher.err for line in report.set_aside)
