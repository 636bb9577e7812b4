"""Run every file of benchmarks/, each alone, and print their figures as one table (`make bench`)."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Figure(NamedTuple):
    """One measured value of one benchmark."""

    benchmark: str
    name: str
    value: str


class BadBenchmarkError(Exception):
    """A benchmark failed or did not end with its figures; `str()` is a sentence."""


def figures(last_line: str) -> list[Figure]:
    """Read `{"name": …, "figures": {…}}`, the last line that a benchmark prints. Raises BadBenchmarkError."""
    try:
        result = json.loads(last_line)
        return [Figure(result["name"], name, shown(value)) for name, value in result["figures"].items()]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadBenchmarkError(
            f'its last line must be {{"name": …, "figures": {{…}}}}, but it is {last_line[:80]!r}'
        ) from None


def shown(value: object) -> str:
    """Four significant digits for a fraction, anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(rows: Iterable[Figure]) -> str:
    """Columns wide enough for their longest entry, headings first."""
    lines = [Figure("BENCHMARK", "FIGURE", "VALUE"), *rows]
    first, second = (max(len(line[column]) for line in lines) for column in (0, 1))
    return "\n".join(f"{line[0]:<{first}}  {line[1]:<{second}}  {line[2]}" for line in lines)


def measure(script: Path, arguments: list[str]) -> list[Figure]:
    """Run one benchmark, its lines passed on as they come, and return its figures. Raises BadBenchmarkError."""
    last = ""
    command = [sys.executable, str(script), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as run:
        for line in run.stdout or ():
            print(f"  {line}", end="", flush=True)
            last = line.strip() or last
    if run.returncode:
        raise BadBenchmarkError(f"it exited with {run.returncode}")
    return figures(last)


def main(arguments: list[str]) -> int:
    """Run them all, also after one has failed; 1 if any failed."""
    rows: list[Figure] = []
    failures: list[str] = []
    for script in sorted((ROOT / "benchmarks").glob("*.py")):
        print(f"benchmarks/{script.name} {' '.join(arguments)}".rstrip(), flush=True)
        try:
            rows += measure(script, arguments)
        except BadBenchmarkError as trouble:
            failures.append(f"benchmarks/{script.name} failed: {trouble}.")
    if not rows and not failures:
        failures.append("benchmarks/ holds no benchmark.")
    print("\n" + table(rows) if rows else "")
    print("\n".join(failures), end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
