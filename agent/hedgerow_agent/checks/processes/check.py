"""Who computes on the GPU, and in how much memory: so that ranks are found on it. No judgement."""

from hedgerow.wire_agent import Finding
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading

MAX_PROCESSES = 128


class Processes:
    """Processes and their memory."""

    name = "processes"

    def sample(self, device: Device, reading: Reading) -> None:
        """The processes, those with most memory where there are too many."""
        found = device.processes()
        if found is not None and len(found) > MAX_PROCESSES:
            found = sorted(found, key=lambda process: -(process.memory_bytes or 0))[:MAX_PROCESSES]
        reading.processes = found

    def supported(self, reading: Reading) -> bool:
        """Where they are told."""
        return reading.processes is not None

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """Nothing: whose they are, the operator knows."""
        return []
