"""PCIe: a link that became narrower than it was or than those of the others like it, or slower while the GPU works.

By its maximum alone nothing is judged: a T4 or A10G in a rented machine says 8 of 16 lanes all its life. Links of idle
GPUs slow down to save power.
"""

from hedgerow.gpu_faults import LINK_WINDOW_SECONDS, Rising, of_replays
from hedgerow.gpu_reasons import PCIE_REDUCED
from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, Finding
from hedgerow_agent.checks.base import Lasting, has
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading

_LASTING_SECONDS = 30.0
_BUSY_PERCENT = 50.0


class Pcie:
    """Bytes, replays, width and speed."""

    name = "pcie"

    def __init__(self) -> None:
        self._most: dict[str, float] = {}
        self._narrow = Lasting()
        self._slow = Lasting()
        self._replays = Rising(LINK_WINDOW_SECONDS)

    def sample(self, device: Device, reading: Reading) -> None:
        """Bytes, replays, width and speed."""
        reading.values.update(device.pcie())

    def supported(self, reading: Reading) -> bool:
        """Where width or replays are told."""
        return has(reading, "pcie_link_width") or has(reading, "pcie_replays")

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Narrow, slow, or repeating itself."""
        found = self._below(reading, now, "width", True, self._narrow)
        busy = reading.values.get("utilisation_percent", 0.0) >= _BUSY_PERCENT
        found += self._below(reading, now, "generation", busy, self._slow)
        rise = self._replays.rise(reading.values.get("pcie_replays"), now)
        return found + of_replays(rise)

    def _below(self, reading: Reading, now: float, what: str, counts: bool, lasting: Lasting) -> list[Finding]:
        name = f"pcie_link_{what}"
        value = reading.values.get(name, 0.0)
        self._most[name] = most = max(value, self._most.get(name, 0.0), reading.best.get(name, 0.0))
        seconds = lasting.seconds(counts and has(reading, name) and value < most, now)
        if seconds < _LASTING_SECONDS:
            return []
        words = f"its PCIe link has {what} {value:.0f}; it had {most:.0f}, or others like it have"
        return [Finding(self.name, DEGRADED, PCIE_REDUCED, ACTION_INSPECT, words, age=seconds)]
