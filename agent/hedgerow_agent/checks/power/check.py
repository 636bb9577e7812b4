"""Power, and whether somebody lowered its limit: the GPU is then slower than its peers, and steps wait for it."""

from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, Finding
from hedgerow_agent.checks.base import has
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading
from hedgerow_agent.reasons import POWER_LIMIT_LOWERED

# Limits within a few percent of the default are how sites tune; a GPU loses little by them.
_LOWERED = 0.8


class Power:
    """Power against limit."""

    name = "power"

    def sample(self, device: Device, reading: Reading) -> None:
        """Power and its limits."""
        reading.values.update(device.power())

    def supported(self, reading: Reading) -> bool:
        """Where both limits are told."""
        return has(reading, "power_limit_watts", "power_default_limit_watts")

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Whether the limit in force is far below the usual one."""
        limit, default = (reading.values[name] for name in ("power_limit_watts", "power_default_limit_watts"))
        if limit >= _LOWERED * default:
            return []
        words = f"its power limit is {limit:.0f} W, that of its kind {default:.0f} W"
        return [Finding(self.name, DEGRADED, POWER_LIMIT_LOWERED, ACTION_INSPECT, words)]
