"""Which folders of submissions by hedgerow sbatch are deleted, with a squeue that says what a test tells it."""

import os
from pathlib import Path

import msgspec
import pytest

from hedgerow_operator.cli.slurm import pruning
from hedgerow_operator.cli.slurm.folder import Folder, name_after
from hedgerow_operator.cli.slurm.pruning import prune
from hedgerow_operator.core.slurm.sbatch_plan import SbatchPlan

NOW = 2_000_000_000.0
DAY = 86400.0
PLAN = SbatchPlan(name="train", flags=(), variables={}, arguments=(), directory="/", spec={}, successor=True)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory, on a machine whose Slurm lists no job."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "state").mkdir()
    says(tmp_path / "state", "")
    return tmp_path / "state"


def says(root: Path, text: str, code: int = 0) -> None:
    program = root.parent / "bin" / "squeue"
    program.write_text(f"#!/bin/sh\necho '{text}'\nexit {code}\n")
    program.chmod(0o755)


def submitted(root: Path, days: float, number: int = 1, plan: SbatchPlan = PLAN) -> Path:
    """One of so many days ago, as batch job ``number``."""
    path = root / f"20330101-000000-{number:06x}"
    path.mkdir()
    folder = Folder(path)
    folder.write(plan, "#!/bin/sh\n")
    name_after(folder, str(number))
    for entry in (path, *path.iterdir()):
        os.utime(entry, (NOW - days * DAY,) * 2)
    return path


def left(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_one_in_which_nothing_has_changed_for_a_month_goes_with_its_number(root: Path) -> None:
    submitted(root, 31)
    kept = submitted(root, 29, 2)
    prune(root, NOW)
    assert left(root) == sorted(["2", kept.name])


# What squeue prints, how it ends, and the plan of a submission of a month ago.
KEPT: dict[str, tuple[str, int, SbatchPlan]] = {
    "its number is listed": ("1 (null)", 0, PLAN),
    "its comment is listed": ("77 hedgerow sbatch 20330101-000000-000001", 0, PLAN),
    "Slurm does not answer": ("", 1, PLAN),
    "it was sent to another cluster": ("", 0, msgspec.structs.replace(PLAN, flags=("--clusters=far",))),
}


@pytest.mark.parametrize("case", KEPT)
def test_it_is_kept_where(case: str, root: Path) -> None:
    printed, code, plan = KEPT[case]
    says(root, printed, code)
    path = submitted(root, 40, plan=plan)
    prune(root, NOW)
    assert left(root) == sorted(["1", path.name])


def test_of_too_many_the_oldest_go_unless_they_are_of_today(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "MOST_FOLDERS", 1)
    paths = [submitted(root, days, number) for number, days in enumerate((0.1, 0.5, 2.0), start=1)]
    prune(root, NOW)
    assert [path.exists() for path in paths] == [True, True, False]


def test_what_is_not_ours_stays(root: Path) -> None:
    (root / "notes").mkdir()
    os.utime(root / "notes", (0, 0))
    prune(root, NOW)
    assert left(root) == ["notes"]


def test_one_that_sbatch_said_went_to_another_cluster_is_kept_whoever_sent_it_there(root: Path) -> None:
    path = submitted(root, 40)
    Folder(path).note_cluster("far")
    for entry in (path, *path.iterdir()):
        os.utime(entry, (NOW - 40 * DAY,) * 2)
    prune(root, NOW)
    assert path.exists()


def test_those_of_another_user_are_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, somebody = submitted(root, 40), os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    prune(root, NOW)
    assert path.exists()
