"""Rows that the driver remapped: pending asks for a reset at the next chance, failed for another board."""

from hedgerow.gpu_faults import of_remapping
from hedgerow.wire_agent import Finding
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading


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
        return of_remapping(reading.values)
