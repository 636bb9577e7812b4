"""Memory errors. An uncorrectable one that the driver answered by remapping the row is over, and no fault by itself."""

from hedgerow.gpu_faults import ECC_WINDOW_SECONDS, Rising, of_uncorrectable
from hedgerow.gpu_reasons import SRAM_WORN
from hedgerow.wire_agent import ACTION_INSPECT, FAILED, Finding
from hedgerow_agent.checks.base import has
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading


class Ecc:
    """ECC counters, volatile and aggregate."""

    name = "ecc"

    def __init__(self) -> None:
        self._uncorrectable = Rising(ECC_WINDOW_SECONDS)

    def sample(self, device: Device, reading: Reading) -> None:
        """The counters."""
        reading.values.update(device.ecc())

    def supported(self, reading: Reading) -> bool:
        """Where ECC is on and told; with MIG it may not be."""
        return has(reading, "ecc_volatile_uncorrectable_errors") or has(reading, "ecc_sram_threshold_exceeded")

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Errors since the agent looks, where rows are not remapped; and SRAM that is worn out by the driver's word."""
        return self._worn(reading) + self._fresh(reading, now)

    def _worn(self, reading: Reading) -> list[Finding]:
        if reading.values.get("ecc_sram_threshold_exceeded") != 1.0:
            return []
        words = "uncorrectable SRAM errors are above the threshold at which the board is to be replaced"
        return [Finding(self.name, FAILED, SRAM_WORN, ACTION_INSPECT, words)]

    def _fresh(self, reading: Reading, now: float) -> list[Finding]:
        rise = self._uncorrectable.rise(reading.values.get("ecc_volatile_uncorrectable_errors"), now)
        return of_uncorrectable(rise, reading.values)
