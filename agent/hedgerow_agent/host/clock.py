"""The wall clock: how far off the kernel says it is, and whether anything keeps it right."""

import ctypes
import time

from hedgerow.gpu_reasons import CLOCK_OFF
from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, Finding
from hedgerow_agent.checks.base import Lasting
from hedgerow_agent.host.base import HostReading

_UNSYNCHRONISED = 0x0040  # STA_UNSYNC of linux/timex.h
_NANOSECONDS = 0x2000  # STA_NANO
_OFF_SECONDS = 1.0
_LASTING_SECONDS = 60.0
_EVERY_SECONDS = 10.0


class _Timex(ctypes.Structure):
    """struct timex of adjtimex(2), as far as it is read; the rest is room."""

    _fields_ = (
        ("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long), ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long), ("status", ctypes.c_int), ("room", ctypes.c_char * 256),
    )  # fmt: skip


class Clock:
    """Offset and synchronisation, as the kernel knows them from whoever steers it."""

    name = "clock"

    def __init__(self) -> None:
        self._off = Lasting()
        self._last: dict[str, float] = {}
        self._due = 0.0

    def sample(self, root: str, reading: HostReading) -> None:
        """adjtimex(2) without changing anything."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _EVERY_SECONDS
            self._last = _look()
        reading.values.update(self._last)

    def judge(self, reading: HostReading, now: float) -> list[Finding]:
        """An offset of seconds that lasts: logs and deadlines of others then do not fit together."""
        offset = reading.values.get("clock_offset_seconds", 0.0)
        seconds = self._off.seconds(abs(offset) >= _OFF_SECONDS, now)
        if seconds < _LASTING_SECONDS:
            return []
        words = f"the wall clock is {offset:+.1f} s off"
        return [Finding(self.name, DEGRADED, CLOCK_OFF, ACTION_INSPECT, words, age=seconds)]


def _look() -> dict[str, float]:
    try:
        library = ctypes.CDLL(None, use_errno=True)
        found = _Timex()
        if library.adjtimex(ctypes.byref(found)) < 0:
            return {}
    except (OSError, AttributeError):
        return {}
    if found.status & _UNSYNCHRONISED:
        return {"clock_synchronised": 0.0}
    unit = 1e-9 if found.status & _NANOSECONDS else 1e-6
    return {"clock_synchronised": 1.0, "clock_offset_seconds": found.offset * unit}
