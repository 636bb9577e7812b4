"""Looks at the checkpoint directory on a thread of its own: a storage that hangs must hold up nothing else."""

from __future__ import annotations

import dataclasses
import queue
import threading
from typing import Callable, List, NamedTuple, Optional, Union

from hedgerow import checkpoints
from hedgerow.checkpoints import aside
from hedgerow.machine import boottime
from hedgerow.wire import CheckpointScan

# A directory that has not answered for this long is reported as one that could not be looked at.
SILENT_SECONDS = 30.0


class _Wish(NamedTuple):
    quiet: bool
    attempt: int


class Cleared(NamedTuple):
    """What was set aside before ``attempt``, which starts from ``chosen``: a line for a person each."""

    attempt: int
    chosen: Optional[str]
    lines: List[str]


class _Clearing(NamedTuple):
    attempt: int
    chosen: Optional[str]
    worker: int


class Scanner(threading.Thread):
    """``deliver`` gets every finished scan and every clearing that was asked for, on this thread."""

    def __init__(self, directory: str, verify: str, deliver: Callable[[Union[CheckpointScan, Cleared]], None]) -> None:
        super().__init__(name="checkpoints", daemon=True)
        self._directory = directory
        self._reader = checkpoints.Reader(directory, verify)
        self._deliver = deliver
        self._wishes: "queue.SimpleQueue[Union[_Wish, _Clearing]]" = queue.SimpleQueue()
        self._newest = CheckpointScan()
        self._rested_after: Optional[int] = None
        self._waiting_since: Optional[float] = None

    def look(self, quiet: bool, attempt: int) -> None:
        """Ask for a scan. quiet: no rank is alive here, so that nothing is being written."""
        if self._waiting_since is None:
            self._waiting_since = boottime()
        self._wishes.put(_Wish(quiet, attempt))

    def clear(self, attempt: int, chosen: Optional[str], worker: int) -> None:
        """Ask that what is newer than ``chosen`` and invalid be set aside. No rank of the job may be alive anywhere."""
        if self._waiting_since is None:
            self._waiting_since = boottime()
        self._wishes.put(_Clearing(attempt, chosen, worker))

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
        """Scan and clear whenever asked."""
        while True:
            wish = self._wishes.get()
            result = self._clear(wish) if isinstance(wish, _Clearing) else self._look(wish)
            if self._wishes.empty():
                self._waiting_since = None
            self._deliver(result)

    def _look(self, wish: _Wish) -> CheckpointScan:
        scan = self._scan(wish.quiet)
        if wish.quiet and scan.error is None and wish.attempt != self._rested_after:
            # Only what was there at the first look after an attempt is surely nothing that others begin to write now.
            self._rested_after = wish.attempt
            self._reader.remember_rest()
        self._newest = dataclasses.replace(scan, quiet=wish.quiet, attempt=wish.attempt)
        return self._newest

    def _clear(self, wish: _Clearing) -> Cleared:
        try:
            known = self._newest.candidates
            lines = aside.set_aside(self._reader, self._directory, wish.chosen, known, wish.attempt, wish.worker)
        except Exception as error:  # noqa: BLE001 (without an answer the attempt would never start)
            lines = ["nothing in %s is set aside: %r" % (self._directory, error)]
        return Cleared(wish.attempt, wish.chosen, lines)

    def _scan(self, quiet: bool) -> CheckpointScan:
        try:
            return self._reader.scan(quiet)
        except Exception as error:  # noqa: BLE001 (without this thread the job would never start again)
            return CheckpointScan(error="%s cannot be looked at: %r" % (self._directory, error))
