"""Memory of the machine, pressure on it, and processes that the kernel ended for lack of it."""

import re

from hedgerow.gpu_faults import Rising
from hedgerow.gpu_reasons import MEMORY_PRESSURE, OOM_KILL
from hedgerow.wire_agent import ACTION_APPLICATION, DEGRADED, Finding
from hedgerow_agent.checks.base import Lasting
from hedgerow_agent.host.base import HostReading, text

_PRESSURE = re.compile(r"^(some|full) avg10=(\d+(?:\.\d+)?)", re.MULTILINE)
# All tasks waiting for memory a tenth of the time: training stands still with them (Documentation/accounting/psi.rst).
_FULL_PERCENT = 10.0
_LASTING_SECONDS = 30.0
KILL_WINDOW_SECONDS = 600.0


class Memory:
    """Memory, its pressure, kills."""

    name = "memory"

    def __init__(self) -> None:
        self._pressed = Lasting()
        self._kills = Rising(KILL_WINDOW_SECONDS)

    def sample(self, root: str, reading: HostReading) -> None:
        """/proc/meminfo, /proc/pressure/memory, /proc/vmstat."""
        for name, line in (("memory_total_bytes", "MemTotal"), ("memory_available_bytes", "MemAvailable")):
            match = re.search(rf"^{line}:\s+(\d+) kB", text(root, "/proc/meminfo") or "", re.MULTILINE)
            if match:
                reading.values[name] = float(match[1]) * 1024
        for kind, share in _PRESSURE.findall(text(root, "/proc/pressure/memory") or ""):
            reading.values[f"memory_pressure_{kind}_percent"] = float(share)
        match = re.search(r"^oom_kill (\d+)", text(root, "/proc/vmstat") or "", re.MULTILINE)
        if match:
            reading.values["oom_kills"] = float(match[1])

    def judge(self, reading: HostReading, now: float) -> list[Finding]:
        """Pressure that lasts, and kills lately."""
        found = []
        share = reading.values.get("memory_pressure_full_percent", 0.0)
        seconds = self._pressed.seconds(share >= _FULL_PERCENT, now)
        if seconds >= _LASTING_SECONDS:
            words = f"all processes wait for memory {share:.0f} % of the time"
            found.append(Finding(self.name, DEGRADED, MEMORY_PRESSURE, ACTION_APPLICATION, words, age=seconds))
        kills = self._kills.rise(reading.values.get("oom_kills"), now)
        if kills > 0:
            words = f"the kernel ended {kills:.0f} processes lately because memory was short" + (
                f": {', '.join(reading.killed)}" if reading.killed else ""
            )
            found.append(Finding(self.name, DEGRADED, OOM_KILL, ACTION_APPLICATION, words))
        return found
