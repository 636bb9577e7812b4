"""The file systems of checkpoint paths: how full they are, and whether they answer (network file systems may hang)."""

import os
import time
from collections.abc import Sequence

from hedgerow.gpu_reasons import DISK_FULL, DISK_SILENT
from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, NOT_MEASURED, DiskReport, Finding
from hedgerow_agent.bounded import Bounded
from hedgerow_agent.host.base import HostReading

_FULL_SHARE = 0.03
_SILENT_SECONDS = 10.0
_EVERY_SECONDS = 10.0


class Disk:
    """Each path on a thread of its own."""

    name = "disk"

    def __init__(self, paths: Sequence[str]) -> None:
        self._threads = {path: Bounded(f"disk {path}", time.monotonic) for path in paths}
        self._last: dict[str, DiskReport] = {}
        self._due = 0.0

    def sample(self, root: str, reading: HostReading) -> None:
        """The newest answer of each; a new look where one is due."""
        due = time.monotonic() >= self._due
        for path, thread in self._threads.items():
            self._collect(path, thread)
            if due:
                thread.start(lambda path=path: os.statvfs(root + path))  # type: ignore[misc]
            silent = thread.busy_seconds()
            if silent > _SILENT_SECONDS:
                self._last[path] = DiskReport(path, error=f"it has not answered for {silent:.0f} s")
        if due:
            self._due = time.monotonic() + _EVERY_SECONDS
        reading.disks = list(self._last.values())

    def judge(self, reading: HostReading, now: float) -> list[Finding]:
        """Full, or silent."""
        found = []
        for disk in reading.disks:
            if disk.error:
                words = f"{disk.path}: {disk.error}"
                found.append(Finding(self.name, NOT_MEASURED, DISK_SILENT, ACTION_INSPECT, words))
            elif disk.total_bytes and (disk.free_bytes or 0) < _FULL_SHARE * disk.total_bytes:
                words = f"{disk.path} has {(disk.free_bytes or 0) / 1e9:.1f} GB free of {disk.total_bytes / 1e9:.1f}"
                found.append(Finding(self.name, DEGRADED, DISK_FULL, ACTION_INSPECT, words))
        return found

    def _collect(self, path: str, thread: Bounded) -> None:
        outcome = thread.take()
        if outcome is None:
            return
        if isinstance(outcome.error, OSError):
            self._last[path] = DiskReport(path, error=outcome.error.strerror or str(outcome.error))
            return
        found = outcome.value
        files = 100.0 * found.f_favail / found.f_files if found.f_files else None
        self._last[path] = DiskReport(path, found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize, files)
