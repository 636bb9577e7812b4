"""MIG: its instances, each with values of its own, and a change of mode that waits for a reset."""

from hedgerow.gpu_reasons import MIG_CHANGE_PENDING
from hedgerow.wire_agent import ACTION_RESET, DEGRADED, Finding
from hedgerow_agent.checks.base import has
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading


class Mig:
    """MIG mode and instances."""

    name = "mig"

    def sample(self, device: Device, reading: Reading) -> None:
        """The mode, and the instances where it is on."""
        values = device.mig()
        reading.values.update(values)
        reading.instances = device.instances() if values.get("mig_enabled") == 1.0 else []

    def supported(self, reading: Reading) -> bool:
        """Where the GPU can be cut."""
        return has(reading, "mig_enabled", "mig_pending")

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Whether the mode after the next reset is another."""
        if reading.values["mig_enabled"] == reading.values["mig_pending"]:
            return []
        words = f"MIG is switched {'on' if reading.values['mig_pending'] else 'off'} at the next reset"
        return [Finding(self.name, DEGRADED, MIG_CHANGE_PENDING, ACTION_RESET, words)]
