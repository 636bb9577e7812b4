"""Where things lie, so that the folder `operator` never hides the standard library's module of that name."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.project.sources import texts

WRITTEN_BY_PEOPLE = (".py", ".sh", ".md", ".yaml", ".toml", "Makefile")


@pytest.mark.parametrize("folder", [".", "operator", "agent", "tests"])
def test_the_standard_library_can_be_imported_in_a_folder_of_the_project(root: Path, folder: str) -> None:
    script = "import operator, collections; operator.itemgetter(0)"
    result = subprocess.run([sys.executable, "-c", script], cwd=root / folder, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_folder_operator_is_no_package(root: Path) -> None:
    assert [name for name in ("__init__.py", "operator.py") if (root / "operator" / name).exists()] == []


def test_no_file_names_a_place_of_the_machine_it_was_written_on(root: Path) -> None:
    places = {str(root) + "/", str(Path.home()) + "/."}
    naming = [(name, place) for name, text in texts() for place in places if place in text]
    assert naming == []


def test_no_file_ends_a_line_with_a_space_or_lacks_its_last_line_end() -> None:
    written = {name: text for name, text in texts() if name.endswith(WRITTEN_BY_PEOPLE) and "/golden/" not in name}
    assert [name for name, text in written.items() if text and (not text.endswith("\n") or " \n" in text)] == []
