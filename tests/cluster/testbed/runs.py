"""The folders of runs, and removing what a dead run has left: its folder and its cgroups.

Processes, mounts and network devices need no care: they end with the run's namespaces.
"""

import os
import shutil
import tempfile
from pathlib import Path

from tests.cluster.testbed import cgroups
from tests.cluster.testbed.locks import try_lock
from tests.cluster.testbed.prepared import cgroup_of


def runs_folder() -> Path:
    """The folder with one folder a run."""
    folder = Path(tempfile.gettempdir()).resolve() / "hedgerow-testbed"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def create() -> tuple[Path, int]:
    """A new run: its folder, and the locked descriptor that says for as long as it is open that the run lives."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=runs_folder(), prefix="run-"))
        try:
            descriptor = try_lock(folder / "lock")
        except FileNotFoundError:
            continue  # another start took the new folder, still without a lock, for a leftover
        if descriptor is not None:
            return folder, descriptor


def remove_leftovers() -> None:
    """Remove what dead runs have left."""
    for folder in runs_folder().iterdir():
        descriptor = try_lock(folder / "lock")
        if descriptor is not None:
            remove(folder)
            os.close(descriptor)


def remove(folder: Path) -> None:
    """Remove the cgroups and the folder of a run whose processes are dead or dying."""
    cgroups.remove(cgroup_of(folder))
    shutil.rmtree(folder, ignore_errors=True)
