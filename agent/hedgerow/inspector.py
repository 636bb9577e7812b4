"""NCCL Inspector's output, where the user has switched it on: time in collectives, by communicator.

One file a process, ``HOST-pidPID.log``, one JSON object a line: at each dump the newest collective of each
communicator, numbered by ``coll_sn``, with its ``coll_exec_time_us`` and ``coll_busbw_gbs``, 1e9 bytes a second (NCCL,
ext-profiler/inspector/inspector.cc, format v4.0). So they are samples: the numbers tell how many collectives each
stands for.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from hedgerow.regular_file import open_raw

# The windows in which communication is compared with the job's own.
WINDOW_SECONDS = 60.0
# A file that has grown by more since the last look is read from there to its end: samples are enough.
MOST_BYTES = 1 << 20
# More than any link has, in 1e9 bytes a second.
_MOST_BUS = 1e6


def inspector_folder(variables: Mapping[str, str]) -> Optional[str]:
    """Where the Inspector writes, None where it is off or writes for Prometheus."""
    if variables.get("NCCL_INSPECTOR_ENABLE") != "1" or variables.get("NCCL_INSPECTOR_PROM_DUMP", "0") != "0":
        return None
    job = variables.get("SLURM_JOBID", "")
    return variables.get("NCCL_INSPECTOR_DUMP_DIR") or "nccl-inspector-%s" % (job if job.isdigit() else "unknown-jobid")


class _Sample(NamedTuple):
    """One collective. bus: its bus bandwidth in 1e9 bytes a second, None where the line does not tell it."""

    communicator: str
    number: int
    micros: float
    time: float
    bus: Optional[float]


class _Communicator:
    """The samples of one communicator in this window, and the last number of the window before."""

    def __init__(self, number: int) -> None:
        self.before = self.last = number
        self._micros = 0.0
        self._samples = 0

    def add(self, number: int, micros: float) -> None:
        self.last = max(self.last, number)
        self._micros += micros
        self._samples += 1

    def close(self) -> float:
        """Seconds in its collectives since the window before; the next one begins."""
        seconds = (self.last - self.before) * self._micros / max(1, self._samples) / 1e6
        self.before, self._micros, self._samples = self.last, 0.0, 0
        return seconds


class RankInspector:
    """The file of one rank. ``share``, ``bus``: of the newest whole window, None before there was one. The bus
    bandwidth is the mean over the time spent in collectives: small ones, which take none, say nothing of the links.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._pid: Optional[int] = None
        self.share: Optional[float] = None
        self.bus: Optional[float] = None
        self.measured_at = 0.0
        self._offset = 0
        self._rest = b""
        self._began: Optional[float] = None
        self._newest = 0.0
        self._communicators: Dict[str, _Communicator] = {}
        self._bus_micros = self._bus_sum = 0.0

    def look(self, pid: Optional[int], now: float) -> None:
        """Read what is new of process ``pid``; ``now``: CLOCK_BOOTTIME. Called on the reading thread."""
        if pid != self._pid:
            self._pid = pid
            self._begin()
        if pid is None:
            return
        for line in self._new_lines(os.path.join(self._folder, "%s-pid%d.log" % (socket.gethostname(), pid))):
            self._take(line)
        if self._began is not None and self._newest - self._began >= WINDOW_SECONDS:
            spent = sum(communicator.close() for communicator in self._communicators.values())
            self.share, self.measured_at = min(1.0, spent / (self._newest - self._began)), now
            self.bus = self._bus_sum / self._bus_micros if self._bus_micros else None
            self._began, self._bus_micros, self._bus_sum = self._newest, 0.0, 0.0

    def _begin(self) -> None:
        self._offset, self._rest, self._began, self._newest = 0, b"", None, 0.0
        self._communicators.clear()
        self._bus_micros = self._bus_sum = 0.0

    def _new_lines(self, path: str) -> List[bytes]:
        try:
            with open_raw(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size < self._offset:
                    self._begin()
                if size - self._offset > MOST_BYTES:
                    # The first line is cut off, and no JSON.
                    self._offset, self._rest = size - MOST_BYTES, b""
                file.seek(self._offset)
                data = file.read(MOST_BYTES) or b""
        except (OSError, ValueError):
            return []
        self._offset += len(data)
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-MOST_BYTES:]
        return lines

    def _take(self, line: bytes) -> None:
        sample = _sample(line)
        if sample is None:
            return
        self._newest = max(self._newest, sample.time)
        if self._began is None:
            self._began = sample.time
        if sample.communicator not in self._communicators:
            self._communicators[sample.communicator] = _Communicator(sample.number)
        self._communicators[sample.communicator].add(sample.number, sample.micros)
        if sample.bus is not None:
            self._bus_micros += sample.micros
            self._bus_sum += sample.bus * sample.micros


def _sample(line: bytes) -> Optional[_Sample]:
    """What a line tells, None if it is no sample."""
    try:
        fields: Any = json.loads(line.decode("utf-8", "replace"))
        performance = fields["coll_perf"]
        number, micros = performance["coll_sn"], performance["coll_exec_time_us"]
        time = fields["metadata"]["dump_timestamp_us"]
        name, bus = str(fields["header"]["id"]), performance.get("coll_busbw_gbs")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not (type(number) is int and isinstance(micros, (int, float)) and isinstance(time, (int, float))):
        return None
    if not (0 <= micros < 1e12 and 0 <= time < 1e18):
        return None
    known = isinstance(bus, (int, float)) and 0 < bus < _MOST_BUS
    return _Sample(name, number, float(micros), time / 1e6, float(bus) if known else None)
