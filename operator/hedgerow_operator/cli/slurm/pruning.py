"""Folders of submissions that are long over: so that the state directory does not grow for ever."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from hedgerow_operator.adapters.slurm.cli.environment import for_queries
from hedgerow_operator.cli.slurm.folder import Folder
from hedgerow_operator.core.slurm.sbatch_plan import SbatchPlan, comment_of

# Nothing in it has changed for so long; or there are so many newer ones, and it is a day old.
MOST_SECONDS = 30 * 86400.0
MOST_FOLDERS = 200
LEAST_SECONDS = 86400.0
_OURS = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_SQUEUE_SECONDS = 15.0


def prune(root: Path, now: float) -> None:
    """Delete those whose batch jobs Slurm does not list any more. Where Slurm cannot be asked nothing is deleted."""
    with contextlib.suppress(OSError):
        candidates = [path for path in _old(root, now) if _is_of_this_cluster(path)]
        listed = _listed() if candidates else None
        for path in candidates if listed is not None else ():
            names = {link.name for link in _links(path)}
            if not any(line.split(" ")[0] in names or comment_of(path.name) in line for line in listed or ()):
                _delete(path)


def _old(root: Path, now: float) -> Iterator[Path]:
    folders = [path for path in root.iterdir() if _OURS.fullmatch(path.name) and path.is_dir() and _is_mine(path)]
    newest_first = sorted(((_changed(path), path) for path in folders), reverse=True)
    for place, (changed, path) in enumerate(newest_first):
        age = now - changed
        if age > MOST_SECONDS or (place >= MOST_FOLDERS and age > LEAST_SECONDS):
            yield path


def _is_mine(path: Path) -> bool:
    """squeue is asked for our own jobs only."""
    return path.stat().st_uid == os.geteuid()


def _changed(path: Path) -> float:
    within = [path, *path.glob("*"), *path.glob("*/*")]
    return max(entry.lstat().st_mtime for entry in within)


def _is_of_this_cluster(path: Path) -> bool:
    """Jobs that were sent to another cluster are not in this one's list."""
    folder = Folder(path)
    if folder.is_elsewhere():
        return False
    try:
        plan: SbatchPlan = folder.plan()
    except (OSError, msgspec.MsgspecError):
        return True
    elsewhere = any(word.startswith(("-M", "--cluster")) for word in plan.flags)
    return not elsewhere and "SBATCH_CLUSTERS" not in plan.variables


def _listed() -> list[str] | None:
    """Number and comment of each job of ours; None: Slurm does not tell."""
    words = ["squeue", "--noheader", "--states=all", f"--user={os.geteuid()}", "--format=%F %k"]
    try:
        done = subprocess.run(
            words, env=for_queries(os.environ), capture_output=True, text=True, timeout=_SQUEUE_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None


def _links(path: Path) -> list[Path]:
    return [link for link in path.parent.iterdir() if link.is_symlink() and os.readlink(link) == path.name]


def _delete(path: Path) -> None:
    links = _links(path)
    shutil.rmtree(path)
    for link in links:
        link.unlink(missing_ok=True)
