"""Run the tests or a part of them (`make test T=PATH`), those that need a cluster in namespaces of their own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TESTBED = [sys.executable, "-m", "tests.cluster.testbed"]


class Part(NamedTuple):
    """One run of pytest: over what, and whether where a cluster can be started."""

    paths: list[str]
    in_cluster: bool


def parts(wanted: list[str], folders: list[str]) -> list[Part]:
    """Split what is wanted (nothing: every folder of tests/) into runs, the ones that need a cluster last.

    wanted: paths as pytest takes them, then its options from the first word with a dash on;
    folders: names of the folders of tests/.
    """
    first_option = next((place for place, word in enumerate(wanted) if word.startswith("-")), len(wanted))
    paths, options = [path.rstrip("/") for path in wanted[:first_option]], wanted[first_option:]
    if paths in ([], ["tests"]):
        paths = [f"tests/{folder}" for folder in folders]
    runs = [Part([path for path in paths if needs_cluster(path) is needed], needed) for needed in (False, True)]
    return [run._replace(paths=run.paths + options) for run in runs if run.paths]


def needs_cluster(path: str) -> bool:
    """Whether a test path lies below tests/cluster."""
    return path.removeprefix("./").split("::")[0].split("/")[:2] == ["tests", "cluster"]


def command(part: Part, processors: int) -> list[str]:
    """The pytest command of one part. Tests of one cluster share it, so only the others run side by side."""
    pytest = [sys.executable, "-m", "pytest", *part.paths]
    if part.in_cluster:
        return [*TESTBED, "run", "--", *pytest]
    several = any((ROOT / path).is_dir() for path in part.paths)
    return [*pytest, "-n", str(processors), "--dist", "loadfile"] if several and processors > 1 else pytest


def install_packages() -> int:
    """Install the Debian packages of the test cluster; not 0 after a sentence about what is missing."""
    packages = subprocess.run([*TESTBED, "packages"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return subprocess.run(["sh", "tools/debian_packages.sh", *packages.split()], cwd=ROOT, check=False).returncode


def run(part: Part, prepare: Callable[[], int] = install_packages) -> bool:
    """Run one part with its preparation; whether it passed. A run that finds no test has not passed (pytest's 5)."""
    if part.in_cluster and prepare() != 0:
        return False
    return subprocess.run(command(part, os.cpu_count() or 1), cwd=ROOT, check=False).returncode == 0


def main(wanted: list[str]) -> int:
    """Run every part, also after one has failed; 1 if any failed."""
    folders = sorted({path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")})
    failed = False
    for part in parts(wanted, folders):
        began = time.monotonic()
        passed = run(part)
        failed = failed or not passed
        outcome = "passed" if passed else "FAILED"
        print(f"{outcome} in {time.monotonic() - began:.0f} s: {' '.join(part.paths)}\n", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
