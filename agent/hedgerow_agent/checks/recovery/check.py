"""What the driver itself wants to be done about a GPU: it knows also where no Xid was written, or its line was lost."""

from hedgerow.gpu_reasons import RECOVERY_ACTION, RESET_REQUIRED
from hedgerow.wire_agent import ACTION_RESET, FAILED, HEALTHY, Finding
from hedgerow_agent.devices.base import Device
from hedgerow_agent.kernel_log.recovery import recovery
from hedgerow_agent.reading import Reading


class RecoveryAction:
    """The driver's recovery action, and calls that it refuses until the GPU is reset."""

    name = "recovery"

    def sample(self, device: Device, reading: Reading) -> None:
        """What it asks for."""
        reading.values.update(device.recovery())

    def supported(self, reading: Reading) -> bool:
        """Where it says so."""
        return "recovery_action" in reading.values or "reset_required" in reading.values

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """What it asks for, unless that is nothing."""
        found = []
        wanted = recovery(int(reading.values.get("recovery_action", 0)))
        if wanted.health != HEALTHY:
            words = f"the driver asks for: {wanted.words}"
            found.append(Finding(self.name, wanted.health, RECOVERY_ACTION, wanted.action, words))
        if reading.values.get("reset_required") == 1.0:
            words = "the driver refuses calls until the GPU is reset"
            found.append(Finding(self.name, FAILED, RESET_REQUIRED, ACTION_RESET, words))
        return found
