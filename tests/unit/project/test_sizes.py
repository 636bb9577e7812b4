"""Small rooms: how long files and functions may be, and that each module says what it is for."""

import ast

import pytest

from tests.unit.project.sources import ROOT, files, functions, percentile

MODULES = files("operator", "agent", "benchmarks", "tools", "tests", suffix=".py")


@pytest.fixture(scope="module")
def rooms() -> dict[str, int]:
    """Lines of each module; an __init__.py with only a docstring is no room and would flatter the median."""
    counted = [path for path in MODULES if path.name != "__init__.py"]
    return {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in counted}


@pytest.fixture(scope="module")
def lengths() -> list[int]:
    """Lines of each function of the product."""
    product = files("operator", "agent", suffix=".py")
    return [lines for path in product for lines in functions(path)]


def test_no_file_is_longer_than_600_lines(rooms: dict[str, int]) -> None:
    assert {name: lines for name, lines in rooms.items() if lines > 600} == {}


def test_half_of_the_files_have_at_most_150_lines(rooms: dict[str, int]) -> None:
    assert percentile(list(rooms.values()), 50) <= 150


def test_nine_of_ten_files_have_at_most_400_lines(rooms: dict[str, int]) -> None:
    assert percentile(list(rooms.values()), 90) <= 400


def test_half_of_the_functions_have_at_most_10_lines(lengths: list[int]) -> None:
    assert percentile(lengths, 50) <= 10


def test_nine_of_ten_functions_have_at_most_35_lines(lengths: list[int]) -> None:
    assert percentile(lengths, 90) <= 35


def test_every_module_says_in_a_docstring_what_it_is_for() -> None:
    silent = [path for path in MODULES if not ast.get_docstring(ast.parse(path.read_text()))]
    assert [str(path.relative_to(ROOT)) for path in silent] == []


@pytest.mark.parametrize(
    ("numbers", "percent", "answer"),
    [([1, 2, 3, 4], 50, 2), ([1, 2, 3], 50, 2), ([7], 90, 7), (list(range(1, 11)), 90, 9)],
)
def test_a_percentile_is_one_of_the_numbers(numbers: list[int], percent: int, answer: int) -> None:
    assert percentile(numbers, percent) == answer
