"""Temperatures against the thresholds that the GPU itself names. Without a threshold nothing is judged."""

from hedgerow.gpu_reasons import MEMORY_TOO_HOT, TOO_HOT
from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, Finding
from hedgerow_agent.checks.base import Lasting, has
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading

# A peak of seconds is what the threshold is for; a minute of it is a fan, a filter or a cold aisle.
_LASTING_SECONDS = 60.0


class Temperature:
    """GPU and memory temperature."""

    name = "temperature"

    def __init__(self) -> None:
        self._core = Lasting()
        self._memory = Lasting()

    def sample(self, device: Device, reading: Reading) -> None:
        """Temperatures and thresholds."""
        reading.values.update(device.temperature())

    def supported(self, reading: Reading) -> bool:
        """Where a temperature and its threshold are told."""
        return has(reading, "temperature_celsius", "slowdown_temperature_celsius") or has(
            reading, "memory_temperature_celsius", "highest_memory_temperature_celsius"
        )

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Whether one has been at its threshold for a minute."""
        core = self._judge(reading, now, self._core, "temperature_celsius", "slowdown_temperature_celsius", TOO_HOT)
        memory = self._judge(
            reading, now, self._memory, "memory_temperature_celsius", "highest_memory_temperature_celsius",
            MEMORY_TOO_HOT,
        )  # fmt: skip
        return core + memory

    def _judge(
        self, reading: Reading, now: float, lasting: Lasting, value: str, threshold: str, reason: str
    ) -> list[Finding]:
        values = reading.values
        hot = has(reading, value, threshold) and values[value] >= values[threshold]
        seconds = lasting.seconds(hot, now)
        if seconds < _LASTING_SECONDS:
            return []
        words = (
            f"{value.split('_celsius')[0].replace('_', ' ')} {values[value]:.0f} °C, threshold {values[threshold]:.0f}"
        )
        return [Finding(self.name, DEGRADED, reason, ACTION_INSPECT, words, age=seconds)]
