"""Control groups: one for each run with one for each node below, on v1 (a tree a controller) and v2 (one tree)."""

import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
EMPTY_SECONDS = 10  # a killed process leaves its group a little later
# Mount options of a v1 tree that are not names of controllers.
_GENERAL = {"rw", "ro", "nosuid", "nodev", "noexec", "relatime", "noatime", "xattr", "clone_children"}


@dataclass(frozen=True)
class Tree:
    """One mounted hierarchy: where, `cgroup` (v1) or `cgroup2`, and the options to mount it again."""

    point: Path
    kind: str
    options: str

    def group(self, name: str) -> Path:
        """The folder of the group `name` (/hedgerow-RUN or deeper)."""
        return self.point / name.strip("/")


def parse_mounts(text: str) -> list[Tree]:
    """The hierarchies below ROOT in the text of /proc/mounts."""
    rows = [line.split() for line in text.splitlines()]
    return [
        Tree(Path(point), kind, _controllers(options) if kind == "cgroup" else "")
        for _, point, kind, options, *_ in rows
        if kind in ("cgroup", "cgroup2") and Path(point).is_relative_to(ROOT)
    ]


def trees() -> list[Tree]:
    """Every hierarchy that is mounted here."""
    return parse_mounts(Path("/proc/self/mounts").read_text())


def create(name: str) -> None:
    """Make the group in every tree, ready to hold processes."""
    for tree in trees():
        folder = tree.point
        for part in name.strip("/").split("/"):
            if tree.kind == "cgroup2":
                _delegate(folder)
            folder /= part
            folder.mkdir(exist_ok=True)
            if "cpuset" in tree.options.split(","):
                _inherit_cpuset(folder)


def join(name: str) -> None:
    """Move this process into the group, in every tree."""
    for path in members(name):
        path.write_text("0")


def members(name: str) -> list[Path]:
    """The files that take a process into the group, one a tree."""
    return [tree.group(name) / "cgroup.procs" for tree in trees()]


def remove(name: str) -> None:
    """Remove the group and all below it; its processes are dead or dying."""
    for tree in trees():
        top = tree.group(name)
        folders = [path for path in top.rglob("*") if path.is_dir()] if top.is_dir() else []
        for folder in sorted([top, *folders], reverse=True):
            _remove_one(folder)


def _controllers(options: str) -> str:
    words = [word for word in options.split(",") if word not in _GENERAL and not word.startswith("release_agent=")]
    # A tree without controllers has a name only, and says so to be mounted.
    return ",".join(["none", *words] if words and words[0].startswith("name=") else words)


def _delegate(folder: Path) -> None:
    """Let the groups below `folder` use every controller that it has (v2)."""
    for controller in (folder / "cgroup.controllers").read_text().split():
        try:
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")
        except OSError:
            continue  # not for a group that holds processes; what has it enabled already stays enabled


def _inherit_cpuset(folder: Path) -> None:
    for name in ("cpuset.cpus", "cpuset.mems"):
        if not (folder / name).read_text().strip():
            (folder / name).write_text((folder.parent / name).read_text())


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
