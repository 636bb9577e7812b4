"""The project's files as these tests look at them."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("operator", "agent", "tests", "benchmarks", "examples", "tools", "docs", "crds", "charts", ".ci")
LEFT_OUT = {"__pycache__", ".hypothesis"}


def files(*folders: str, suffix: str = "") -> list[Path]:
    """Every file below the folders, build leavings excepted, whose name ends with suffix."""
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob(f"*{suffix}")))
    return [path for path in found if path.is_file() and not LEFT_OUT.intersection(path.parts)]


def texts() -> Iterator[tuple[str, str]]:
    """(path from the top folder, content) of every text file of the project."""
    top = [path for path in sorted(ROOT.iterdir()) if path.is_file() and path.name != ".git"]
    for path in [*top, *files(*FOLDERS)]:
        try:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def functions(path: Path) -> Iterator[int]:
    """The number of lines of every function in a Python file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            yield node.end_lineno - node.lineno + 1


def percentile(numbers: list[int], percent: int) -> int:
    """The smallest number that at least `percent` percent of them do not exceed."""
    return sorted(numbers)[-(-len(numbers) * percent // 100) - 1]
