"""Utilisation, activity and memory, for others to judge: a GPU that waits in a collective is 100 % busy."""

from hedgerow.wire_agent import Finding
from hedgerow_agent.checks.base import has
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading


class Utilisation:
    """Values only."""

    name = "utilisation"

    def sample(self, device: Device, reading: Reading) -> None:
        """With MIG these may be absent for the whole GPU: the instances have their own."""
        reading.values.update(device.utilisation())

    def supported(self, reading: Reading) -> bool:
        """Where it says how busy it is."""
        return has(reading, "utilisation_percent")

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Nothing: how busy it should be, only the job knows."""
        return []
