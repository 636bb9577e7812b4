"""Power, and whether the limit of one GPU was lowered: it is then slower than its peers, and steps wait for it.

A limit that all GPUs of a node share is how a site saves power, and no fault of any of them.
"""

from hedgerow.gpu_reasons import POWER_LIMIT_LOWERED
from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, Finding
from hedgerow_agent.checks.base import has
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading

# A GPU loses little speed by a limit a few percent lower.
_LOWERED = 0.8


class Power:
    """Power against limit."""

    name = "power"

    def sample(self, device: Device, reading: Reading) -> None:
        """Power and its limits."""
        reading.values.update(device.power())

    def supported(self, reading: Reading) -> bool:
        """Where its limit is told."""
        return has(reading, "power_limit_watts")

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Whether the limit in force is far below those of the others like it."""
        limit = reading.values["power_limit_watts"]
        others = reading.best.get("power_limit_watts", limit)
        if limit >= _LOWERED * others:
            return []
        words = f"its power limit is {limit:.0f} W, that of others like it {others:.0f} W"
        return [Finding(self.name, DEGRADED, POWER_LIMIT_LOWERED, ACTION_INSPECT, words)]
