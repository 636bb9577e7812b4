"""Rows that the driver remapped: pending asks for a reset at the next chance, failed for another board."""

from hedgerow.wire_agent import ACTION_INSPECT, ACTION_RESET, DEGRADED, FAILED, Finding
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading
from hedgerow_agent.reasons import REMAP_FAILED, REMAP_PENDING, RETIREMENT_PENDING

# Source: NVIDIA GPU memory error management (docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt), row remapping.


class Remap:
    """Row remap, and page retirement of older GPUs."""

    name = "remap"

    def sample(self, device: Device, reading: Reading) -> None:
        """Counts and states."""
        reading.values.update(device.remapped_rows())

    def supported(self, reading: Reading) -> bool:
        """Where the GPU remaps rows or retires pages."""
        return any(name in reading.values for name in ("remap_pending", "remap_failed", "retired_pages_pending"))

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """What is pending or failed."""
        values, found = reading.values, []
        if values.get("remap_failed") == 1.0:
            words = "a row could not be remapped: the board is to be replaced"
            found.append(Finding(self.name, FAILED, REMAP_FAILED, ACTION_INSPECT, words))
        if values.get("remap_pending") == 1.0:
            words = "a row is remapped at the next reset; what runs may go on until then"
            found.append(Finding(self.name, DEGRADED, REMAP_PENDING, ACTION_RESET, words))
        if values.get("retired_pages_pending") == 1.0:
            words = "a page is retired at the next reset; what runs may go on until then"
            found.append(Finding(self.name, DEGRADED, RETIREMENT_PENDING, ACTION_RESET, words))
        return found
