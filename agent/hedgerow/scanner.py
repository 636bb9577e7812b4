"""Looks at the checkpoint directory on a thread of its own: a storage that hangs must hold up nothing else."""

from __future__ import annotations

import dataclasses
import queue
import threading
from typing import Callable, NamedTuple, Optional

from hedgerow import checkpoints
from hedgerow.machine import boottime
from hedgerow.wire import CheckpointScan

# A directory that has not answered for this long is reported as one that could not be looked at.
SILENT_SECONDS = 30.0


class _Wish(NamedTuple):
    quiet: bool
    attempt: int


class Scanner(threading.Thread):
    """``deliver`` gets every finished scan, on this thread."""

    def __init__(self, directory: str, verify: str, deliver: Callable[[CheckpointScan], None]) -> None:
        super().__init__(name="checkpoints", daemon=True)
        self._directory = directory
        self._reader = checkpoints.Reader(directory, verify)
        self._deliver = deliver
        self._wishes: "queue.SimpleQueue[_Wish]" = queue.SimpleQueue()
        self._waiting_since: Optional[float] = None

    def look(self, quiet: bool, attempt: int) -> None:
        """Ask for a scan. quiet: no rank is alive here, so that nothing is being written."""
        if self._waiting_since is None:
            self._waiting_since = boottime()
        self._wishes.put(_Wish(quiet, attempt))

    @property
    def waiting(self) -> bool:
        """Whether a scan that was asked for is not there yet."""
        return self._waiting_since is not None

    def silence(self, now: float) -> Optional[CheckpointScan]:
        """What to report instead when the storage has not answered for long; None while there is no need."""
        since = self._waiting_since
        if since is None or now - since < SILENT_SECONDS:
            return None
        return CheckpointScan(error="%s has not answered for %d s" % (self._directory, now - since))

    def run(self) -> None:
        """Scan whenever asked."""
        while True:
            wish = self._wishes.get()
            scan = self._scan(wish.quiet)
            if self._wishes.empty():
                self._waiting_since = None
            self._deliver(dataclasses.replace(scan, quiet=wish.quiet, attempt=wish.attempt))

    def _scan(self, quiet: bool) -> CheckpointScan:
        try:
            return self._reader.scan(quiet)
        except Exception as error:  # noqa: BLE001 (without this thread the job would never start again)
            return CheckpointScan(error="%s cannot be looked at: %r" % (self._directory, error))
