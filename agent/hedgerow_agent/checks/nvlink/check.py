"""NVLink: a link that was up and is down, and errors that cost whole recoveries. Replays and CRC alone are repaired."""

from hedgerow.gpu_faults import LINK_WINDOW_SECONDS, Rising, of_link_recoveries
from hedgerow.gpu_reasons import NVLINK_DOWN
from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, Finding
from hedgerow_agent.checks.base import has
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading


class Nvlink:
    """Links, bytes, errors."""

    name = "nvlink"

    def __init__(self) -> None:
        self._most_active = 0.0
        self._recoveries = Rising(LINK_WINDOW_SECONDS)

    def sample(self, device: Device, reading: Reading) -> None:
        """Links, bytes, errors."""
        reading.values.update(device.nvlink())

    def supported(self, reading: Reading) -> bool:
        """Where there are links; boards without a bridge have them, all inactive."""
        return has(reading, "nvlink_links_active")

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Links that were up, or that others like it have, and recoveries lately; some boards never use all."""
        values, found = reading.values, []
        active = values["nvlink_links_active"]
        self._most_active = max(self._most_active, reading.best.get("nvlink_links_active", active))
        if active < self._most_active:
            words = f"{active:.0f} of {self._most_active:.0f} NVLinks are up"
            found.append(Finding(self.name, DEGRADED, NVLINK_DOWN, ACTION_INSPECT, words))
        rise = self._recoveries.rise(values.get("nvlink_recovery_errors"), now)
        return found + of_link_recoveries(rise)
