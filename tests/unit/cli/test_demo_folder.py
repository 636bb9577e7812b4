"""Where the demo runs: a copy of the example as it was before anybody ran it, once for each folder."""

from pathlib import Path

import click
import pytest

from hedgerow_operator.cli import demo


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An example that was run before; the demo itself is not run."""
    folder = tmp_path / "example"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "checkpoints" / "step-000060.safetensors").touch()
    (folder / "trainingjob.yaml").touch()
    monkeypatch.setattr(demo, "find_example", lambda: folder)
    monkeypatch.setattr(demo, "run_jobs", lambda *arguments: 0)
    monkeypatch.setattr(demo, "compare", lambda *arguments: None)
    return folder


def test_checkpoints_that_an_earlier_run_left_beside_the_example_are_not_taken_along(
    example: Path, tmp_path: Path
) -> None:
    assert demo.run_demo(tmp_path / "here") == 0
    assert [path.name for path in (tmp_path / "here" / "quickstart").iterdir()] == ["trainingjob.yaml"]


def test_a_folder_in_which_a_demo_was_run_is_refused_with_what_to_do(example: Path, tmp_path: Path) -> None:
    stored = tmp_path / "here" / "state" / "default" / "TrainingJob" / "quickstart.yaml"
    stored.parent.mkdir(parents=True)
    stored.touch()
    with pytest.raises(click.ClickException, match=r"was run in .*/here already; give another --state-dir, or none"):
        demo.run_demo(tmp_path / "here")
