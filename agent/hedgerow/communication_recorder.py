"""Time in NCCL's collectives, read inside the rank from torch's flight recorder.

Each entry tells when the collective was queued (``time_created_ns``, wall clock) and how long it ran: ``duration_ms``
with TORCH_NCCL_ENABLE_TIMING, else only when the watchdog found it started and completed, which is coarser
(torch/csrc/distributed/c10d/FlightRecorder.hpp). ``torch._C._distributed_c10d._dump_nccl_trace`` gives them from torch
2.3 on; unlike a dump that the pipe asks for it writes no file and no line.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any, Callable, Dict, List, Optional


def newest_entries() -> List[Dict[str, Any]]:
    """What the recorder of this process holds; raises where there is none."""
    dump = sys.modules["torch"]._C._distributed_c10d._dump_nccl_trace
    try:
        data = dump(includeCollectives=True, includeStackTraces=False, onlyActive=False)
    except TypeError:
        data = dump()
    # The process's own bytes, made just now.
    whole = pickle.loads(data)  # noqa: S301
    return list(whole["entries"] if isinstance(whole, dict) else whole)


class RecorderTimes:
    """Which share of the time was spent in collectives, from one reading to the next."""

    def __init__(self, entries: Callable[[], List[Dict[str, Any]]] = newest_entries) -> None:
        self._entries = entries
        self._until = 0

    def share(self, window_seconds: float) -> Optional[float]:
        """Of the last ``window_seconds``, or of as much of them as the recorder still holds; None: nothing was told."""
        entries = [entry for entry in self._entries() if type(entry.get("time_created_ns")) is int]
        fresh = [entry for entry in entries if entry["time_created_ns"] > self._until]
        if not fresh:
            return None
        created = [entry["time_created_ns"] for entry in fresh]
        # Where all that it holds is new, it may have forgotten some.
        seconds = window_seconds if len(fresh) < len(entries) else (max(created) - min(created)) / 1e9
        self._until = max(created)
        lengths = [length for length in map(_length, fresh) if length is not None]
        return min(1.0, sum(lengths) / seconds) if lengths and seconds > 0.0 else None


def _length(entry: Dict[str, Any]) -> Optional[float]:
    """Seconds that a completed operation took, None where nothing tells."""
    millis = entry.get("duration_ms")
    if isinstance(millis, (int, float)) and millis >= 0.0:
        return millis / 1e3
    started, completed = entry.get("time_discovered_started_ns"), entry.get("time_discovered_completed_ns")
    if type(started) is int and type(completed) is int:
        return max(0, completed - started) / 1e9
    return None
