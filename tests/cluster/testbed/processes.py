"""Look at processes through /proc: states, children, and members of a container."""

import os
import signal
import socket
from pathlib import Path

PROC = Path("/proc")


def state(pid: int) -> str:
    """The kernel's letter for a process (R, S, D, T, Z ...); empty when there is no such process."""
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return text.rpartition(")")[2].split()[0]


def alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    return state(pid) not in ("", "Z", "X")


def children(pid: int) -> list[int]:
    """Direct children of a process."""
    try:
        tasks = list((PROC / str(pid) / "task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(child) for task in tasks for child in _read(task / "children").split()]


def descendants(pid: int) -> list[int]:
    """Every process below `pid`, parents first. A namespace's orphans go to its process 1, so none is missed."""
    found = children(pid)
    for child in found:
        found.extend(children(child))
    return found


def command_line(pid: int) -> str:
    """The words of a process with spaces between; empty when it has ended."""
    return _read(PROC / str(pid) / "cmdline").replace("\0", " ")


def of_container(container_id: str) -> list[int]:
    """The processes of one container, by its id as in the pod's status (containerd://...), oldest first."""
    name = container_id.rpartition("/")[2]
    if not name:
        return []
    pids = sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())
    return [pid for pid in pids if name in _read(PROC / str(pid) / "cgroup") and alive(pid)]


def send(pid: int, name: str) -> None:
    """Send a signal by its short name (STOP, CONT ...); nothing happens when the process has ended."""
    try:
        os.kill(pid, signal.Signals[f"SIG{name}"])
    except ProcessLookupError:
        return


def accepts(path: Path) -> bool:
    """Whether somebody listens on a Unix socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
