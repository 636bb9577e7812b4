"""What a check of a GPU is, and what several of them need."""

from typing import Protocol

from hedgerow.wire_agent import Finding
from hedgerow_agent.devices.base import Device
from hedgerow_agent.reading import Reading


class Check(Protocol):
    """One thing that is looked at on one GPU."""

    name: str

    def sample(self, device: Device, reading: Reading) -> None:
        """Ask the device (this may take long) and put the answer into the reading."""

    def supported(self, reading: Reading) -> bool:
        """Whether this GPU says anything that can be judged."""

    def judge(self, reading: Reading, now: float) -> list[Finding]:
        """What there is to say; nothing when all is well. now: CLOCK_BOOTTIME seconds."""


class Lasting:
    """How long something has been so without a break."""

    def __init__(self) -> None:
        self._since: float | None = None

    def seconds(self, so: bool, now: float) -> float:
        """Seconds that it has been so; 0 when it is not."""
        if not so:
            self._since = None
            return 0.0
        if self._since is None:
            self._since = now
        return now - self._since


def has(reading: Reading, *names: str) -> bool:
    """Whether all of these values were measured."""
    return all(name in reading.values for name in names)
