"""Control groups of a run, on v1 (one tree a controller) and v2 (one tree)."""

import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
EMPTY_SECONDS = 10  # a killed process leaves its group a little later


def trees(name: str) -> list[Path]:
    """Every folder of the group `name` (/hedgerow-RUN or deeper), one a hierarchy."""
    parents = [ROOT] if (ROOT / "cgroup.controllers").exists() else [path for path in ROOT.iterdir() if path.is_dir()]
    # On v1, names such as cpu,cpuacct are links to one tree.
    folders = {(parent / name.strip("/")).resolve() for parent in parents}
    return sorted(folder for folder in folders if folder.is_dir())


def remove(name: str) -> None:
    """Remove the group and all below it; its processes are dead or dying."""
    for tree in trees(name):
        for folder in sorted([tree, *(path for path in tree.rglob("*") if path.is_dir())], reverse=True):
            _remove_one(folder)


def _remove_one(folder: Path) -> None:
    deadline = time.monotonic() + EMPTY_SECONDS
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
