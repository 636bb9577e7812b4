"""torch's flight recorder of NCCL collectives: switched on by variables, asked by a pipe, read from a file.

Names: torch/csrc/distributed/c10d/ProcessGroupNCCL.{hpp,cpp} and FlightRecorder.hpp. torch appends the rank to the
dump's path, and the rank and ``.pipe`` to the pipe's; a byte in the pipe asks for a dump (from torch 2.3 on).
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import stat
import threading
import time
import weakref
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from hedgerow import machine, plain_pickle, recorder_dump
from hedgerow.communication_report import inspected_report
from hedgerow.inspector import RankInspector, inspector_folder
from hedgerow.regular_file import open_raw
from hedgerow.wire import CommunicationReport

# About 1 MB of a rank's memory; a hang is seen long before so many collectives have been queued behind it.
ENTRIES = "2000"
_BUFFER_SIZES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
_DUMP_FILES = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
_PIPE_FILE = "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"
# Collecting Python stacks for a dump waits for the interpreter lock, which the rank that hangs may hold.
_SWITCHES = {"TORCH_NCCL_DUMP_ON_TIMEOUT": "1", "TORCH_NCCL_ENABLE_TIMING": "1", "TORCH_INCLUDE_STACK_TRACE": "0"}
# torch looks at its pipe about once a second, and needs a moment to write.
_LONGEST_WAIT_SECONDS = 10.0
_LOOK_SECONDS = 0.1
_INSPECT_SECONDS = 5.0


def recorder_variables(folder: str, inherited: Mapping[str, str]) -> Dict[str, str]:
    """What switches the recorder on, with its files in ``folder``; what the user has set stays as it is."""
    added = {name: value for name, value in _SWITCHES.items() if name not in inherited}
    for names, value in ((_BUFFER_SIZES, ENTRIES), (_DUMP_FILES, os.path.join(folder, "nccl_"))):
        if not any(name in inherited for name in names):
            added.update(dict.fromkeys(names, value))
    if _PIPE_FILE not in inherited:
        added[_PIPE_FILE] = os.path.join(folder, "nccl_pipe_")
    return added


class _Version(NamedTuple):
    size: int
    modified_ns: int


class RankRecorder:
    """The recorder of one rank, which was started with ``variables``. ``digest`` is the newest dump, reduced."""

    def __init__(self, rank: int, variables: Mapping[str, str]) -> None:
        stem = next((variables[name] for name in _DUMP_FILES if variables.get(name)), "")
        self._dump = "%s%d" % (stem, rank)
        self._pipe = "%s%d.pipe" % (variables.get(_PIPE_FILE, ""), rank)
        self._read: Optional[_Version] = None
        self._new = False
        self._written = 0.0
        self._pid: Optional[int] = None
        folder = inspector_folder(variables)
        self._inspector = RankInspector(folder) if folder is not None else None
        self.digest: Optional[Dict[str, Any]] = None

    def ask(self) -> bool:
        """Ask torch for a dump; False when nobody listens (no NCCL, an older torch)."""
        try:
            pipe = os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            os.write(pipe, b"1")
        except OSError:
            return False
        finally:
            os.close(pipe)
        return True

    def listens(self) -> bool:
        """Whether torch waits for being asked."""
        try:
            return stat.S_ISFIFO(os.stat(self._pipe).st_mode)
        except OSError:
            return False

    def digest_age(self) -> Optional[float]:
        """Seconds since torch wrote what the digest tells; None without one."""
        return None if self.digest is None else max(0.0, time.monotonic() - self._written)

    @property
    def has_dump(self) -> bool:
        """Whether there is a dump that has not been read."""
        version = self._version()
        return version is not None and version != self._read

    def news(self) -> bool:
        """Whether the digest is new since the last call."""
        new, self._new = self._new, False
        return new

    @property
    def inspects(self) -> bool:
        """Whether NCCL Inspector writes for this rank too."""
        return self._inspector is not None

    def inspect(self) -> None:
        """Read what NCCL Inspector has written since. Called on the reading thread."""
        if self._inspector is not None:
            self._inspector.look(self._pid, machine.boottime())

    def communication(self, pid: int, step_seconds: Optional[float], now: float) -> Optional[CommunicationReport]:
        """By NCCL Inspector, of the rank that is process ``pid``; ``now``: CLOCK_BOOTTIME."""
        self._pid = pid
        inspector = self._inspector
        if inspector is None or inspector.share is None:
            return None
        return inspected_report(inspector.share, inspector.bus, step_seconds, now - inspector.measured_at)

    def look(self, before: Optional[_Version]) -> Optional[_Version]:
        """Read the dump if it is new and unchanged since ``before``; its version now. Called on the reading thread."""
        version = self._version()
        if version is None or version == self._read or version != before:
            return version
        try:
            with io.BufferedReader(open_raw(self._dump)) as file:
                reduced = recorder_dump.reduce_dump(plain_pickle.loads(file.read(plain_pickle.MAX_BYTES + 1)))
        except (OSError, ValueError):
            reduced = None
        if reduced is not None:
            # When the file was written says the wall clock; from here on counts one that nobody sets.
            self._written = time.monotonic() - max(0.0, time.time() - version.modified_ns / 1e9)
            self.digest, self._new = reduced, True
        self._read = version
        return version

    def _version(self) -> Optional[_Version]:
        try:
            status = os.stat(self._dump)
        except OSError:
            return None
        return _Version(status.st_size, status.st_mtime_ns) if status.st_size else None


class _Expected:
    """A dump that is waited for until ``end``."""

    def __init__(self, recorder: RankRecorder) -> None:
        self.recorder = recorder
        self.end = time.monotonic() + _LONGEST_WAIT_SECONDS
        self._seen: Optional[_Version] = None

    def look(self) -> bool:
        """Whether there is nothing more to wait for."""
        self._seen = self.recorder.look(self._seen)
        return (self._seen is not None and not self.recorder.has_dump) or time.monotonic() >= self.end


class RecorderReader(threading.Thread):
    """Waits for dumps and reads them, on a thread of its own: one may have a million values."""

    def __init__(self) -> None:
        super().__init__(name="recorder", daemon=True)
        self._asked: "queue.SimpleQueue[_Expected]" = queue.SimpleQueue()
        self._followed: "weakref.WeakSet[RankRecorder]" = weakref.WeakSet()

    def expect(self, recorder: RankRecorder) -> None:
        """Look for a new dump of this rank for a while."""
        self._asked.put(_Expected(recorder))

    def follow(self, recorder: RankRecorder) -> None:
        """Read what NCCL Inspector writes for this rank, for as long as it is there."""
        if recorder.inspects:
            self._followed.add(recorder)

    def run(self) -> None:
        """Read until the process ends."""
        waiting: List[_Expected] = []
        inspect_at = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                waiting.append(self._asked.get(timeout=_LOOK_SECONDS if waiting else _INSPECT_SECONDS))
            while not self._asked.empty():
                waiting.append(self._asked.get())
            waiting = [expected for expected in waiting if not expected.look()]
            if time.monotonic() >= inspect_at:
                inspect_at = time.monotonic() + _INSPECT_SECONDS
                for recorder in list(self._followed):
                    recorder.inspect()
