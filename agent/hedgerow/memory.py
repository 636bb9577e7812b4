"""Memory of process trees, and the limit that holds for this worker. A value that cannot be read is None, never 0."""

from __future__ import annotations

import os
from typing import Iterable, List, Optional, Tuple

_PAGE = os.sysconf("SC_PAGE_SIZE")
_HIERARCHY = "/sys/fs/cgroup"
_MEMBERSHIP = "/proc/self/cgroup"
# Version 1 writes no limit as the largest multiple of a page below 2**63.
_NO_LIMIT = 1 << 60


def resident_bytes(pids: Iterable[int]) -> Optional[int]:
    """Resident memory of these processes together.

    Pages that can be shared (files, shared memory) count once, as much as the process with the most of them has:
    data loaders share theirs. /proc/PID/statm never waits, unlike smaps, for what the process is stuck in.
    """
    private = shared = 0
    known = False
    for pid in pids:
        pages = _pages(pid)
        if pages is not None:
            known = True
            private += pages[0] - pages[1]
            shared = max(shared, pages[1])
    return (private + shared) * _PAGE if known else None


def limit_bytes(membership: str = _MEMBERSHIP, hierarchy: str = _HIERARCHY) -> Optional[int]:
    """The lowest limit of this process's control group and of those above it that can be seen, of version 1 or 2."""
    found: List[int] = []
    for root, path, name in _groups(membership, hierarchy):
        while True:
            value = _number(os.path.join(root, path, name))
            if value is not None and value < _NO_LIMIT:
                found.append(value)
            if not path:
                break
            path = os.path.dirname(path)
    return min(found) if found else None


def _groups(membership: str, hierarchy: str) -> List[Tuple[str, str, str]]:
    """Root of the hierarchy, path in it, name of the limit's file."""
    groups = []
    for line in _read(membership).splitlines():
        _number_text, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        # Seen from inside a container, a path may lead above the root.
        path = "" if path.startswith("/..") else path.strip("/")
        if not controllers:
            groups.append((hierarchy, path, "memory.max"))
        elif "memory" in controllers.split(","):
            groups.append((os.path.join(hierarchy, "memory"), path, "memory.limit_in_bytes"))
    return groups


def _pages(pid: int) -> Optional[Tuple[int, int]]:
    """Resident pages, and those of them that can be shared."""
    fields = _read("/proc/%d/statm" % pid).split()
    return (int(fields[1]), int(fields[2])) if len(fields) > 2 else None


def _number(path: str) -> Optional[int]:
    text = _read(path).strip()
    return int(text) if text.isdigit() else None


def _read(path: str) -> str:
    try:
        with open(path, "rb", buffering=0) as file:
            return (file.read(65536) or b"").decode("utf-8", "replace")
    except OSError:
        return ""
