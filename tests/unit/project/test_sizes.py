"""Small rooms: how long files and functions may be, and that each module says what it is for."""

import ast

import pytest

from tests.unit.project.sources import ROOT, files, functions, percentile

CODE = ("operator", "agent", "benchmarks", "tools")
MODULES = files(*CODE, "tests", suffix=".py")
# Marker files (__init__.py with a docstring) are no rooms; they would only flatter the median.
ROOMS = {path: len(path.read_text().splitlines()) for path in MODULES if path.name != "__init__.py"}
FUNCTIONS = dict(pair for path in files("operator", "agent", suffix=".py") for pair in functions(path))


def test_no_file_is_longer_than_600_lines() -> None:
    assert {str(path.relative_to(ROOT)): lines for path, lines in ROOMS.items() if lines > 600} == {}


def test_half_of_the_files_have_at_most_150_lines() -> None:
    assert percentile(list(ROOMS.values()), 50) <= 150


def test_nine_of_ten_files_have_at_most_400_lines() -> None:
    assert percentile(list(ROOMS.values()), 90) <= 400


def test_half_of_the_functions_have_at_most_10_lines() -> None:
    assert percentile(list(FUNCTIONS.values()), 50) <= 10


def test_nine_of_ten_functions_have_at_most_35_lines() -> None:
    assert percentile(list(FUNCTIONS.values()), 90) <= 35


def test_every_module_says_in_a_docstring_what_it_is_for() -> None:
    silent = [path for path in MODULES if not ast.get_docstring(ast.parse(path.read_text()))]
    assert [str(path.relative_to(ROOT)) for path in silent] == []


@pytest.mark.parametrize(
    ("numbers", "percent", "answer"),
    [([1, 2, 3, 4], 50, 2), ([1, 2, 3], 50, 2), ([7], 90, 7), (list(range(1, 11)), 90, 9)],
)
def test_a_percentile_is_one_of_the_numbers(numbers: list[int], percent: int, answer: int) -> None:
    assert percentile(numbers, percent) == answer
