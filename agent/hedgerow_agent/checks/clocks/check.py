"""Clocks, and whether hardware or heat holds them down. A power cap and an idle GPU are usual, and no fault."""

from hedgerow.gpu_reasons import CLOCKS_HELD_DOWN
from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, Finding
from hedgerow_agent.checks.base import Lasting
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading

# nvml.h, nvmlClocksEventReasons: what no program and no administrator asked for.
FAULTS = frozenset(["hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"])
_LASTING_SECONDS = 60.0


class Clocks:
    """Clocks and throttle reasons."""

    name = "clocks"

    def __init__(self) -> None:
        self._held = Lasting()

    def sample(self, device: Device, reading: Reading) -> None:
        """Clocks and why they are what they are."""
        reading.values.update(device.clocks())
        reading.throttle_reasons = device.throttle_reasons()

    def supported(self, reading: Reading) -> bool:
        """Where reasons are told."""
        return reading.throttle_reasons is not None

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Whether a fault has held the clocks down for a minute."""
        faults = sorted(FAULTS.intersection(reading.throttle_reasons or []))
        seconds = self._held.seconds(bool(faults), now)
        if seconds < _LASTING_SECONDS:
            return []
        words = f"clocks are held down by {', '.join(faults)}" + _clock(reading)
        return [Finding(self.name, DEGRADED, CLOCKS_HELD_DOWN, ACTION_INSPECT, words, age=seconds)]


def _clock(reading: Reading) -> str:
    clock, highest = (reading.values.get(name) for name in ("sm_clock_hertz", "highest_sm_clock_hertz"))
    return f": {clock / 1e6:.0f} of {highest / 1e6:.0f} MHz" if clock is not None and highest else ""
