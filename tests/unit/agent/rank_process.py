"""Runs a script as a rank would run, with a heartbeat file of its own, and reads what it wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hedgerow import pack, record
from hedgerow.rank_environment import injected_path

PACKAGES = Path(__file__).parent / "packages"


def run_rank(
    folder: Path, code: str, interpreter: str = sys.executable, path: tuple[Path, ...] = (), **variables: str
) -> record.Reading:
    """Run ``code`` with the packed library injected; fails with its output if it fails."""
    archive = folder / "hedgerow.pyz"
    pack.write(str(archive))
    heartbeat = folder / "heartbeat"
    record.create(str(heartbeat))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HEDGEROW", "PYTHON"))}
    environment["PYTHONPATH"] = injected_path(str(archive), os.pathsep.join(map(str, path)))
    environment["HEDGEROW_HEARTBEAT"] = str(heartbeat)
    environment.update(variables)
    done = subprocess.run([interpreter, "-c", code], env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return record.read(heartbeat.read_bytes(), 0)


def steps(reading: record.Reading) -> list[int | None]:
    return [boundary.step for boundary in reading.boundaries]
