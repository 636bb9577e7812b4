"""What the agent asks of GPUs, whoever answers. A value that cannot be given is absent from the answer, never 0."""

from dataclasses import dataclass, field
from typing import Protocol

Values = dict[str, float]


class Unavailable(Exception):
    """No GPU can be asked: no library, no driver, or not the same version of both. The text is a sentence."""


class Mismatch(Unavailable):
    """The library in this process does not fit the driver that is loaded now."""


class Gone(Exception):
    """This GPU cannot be reached any more. The text is a sentence."""


@dataclass(frozen=True)
class Identity:
    """Who a GPU is. pci: like 0000:9b:00.0."""

    index: int
    uuid: str = ""
    pci: str = ""
    name: str = ""
    serial: str = ""


@dataclass(frozen=True)
class Versions:
    """Of the kernel's driver, and of the library that speaks with it."""

    driver: str = ""
    library: str = ""


@dataclass(frozen=True)
class Missing:
    """A GPU that is listed but not reachable: what is known of it, and the driver's words."""

    index: int
    words: str
    pci: str = ""


@dataclass(frozen=True)
class Process:
    """A process on a GPU. instance: MIG GPU instance."""

    pid: int
    memory_bytes: int | None = None
    instance: int | None = None


@dataclass(frozen=True)
class Instance:
    """A MIG device."""

    index: int
    gpu_instance: int | None = None
    compute_instance: int | None = None
    uuid: str = ""
    values: Values = field(default_factory=dict)


class Device(Protocol):
    """One GPU. Each method may block for ever (it is called where that harms nobody) and may raise Gone or Unavailable.

    Values are named as in hedgerow.wire_agent.GPU_VALUES.
    """

    @property
    def identity(self) -> Identity:
        """Who it is, as found when it was listed."""

    def utilisation(self) -> Values:
        """Utilisation, activity and memory."""

    def power(self) -> Values:
        """Power and its limits."""

    def temperature(self) -> Values:
        """Temperatures and the thresholds that belong to them."""

    def clocks(self) -> Values:
        """Clock frequencies."""

    def throttle_reasons(self) -> list[str] | None:
        """Why clocks are held down; None: not told."""

    def ecc(self) -> Values:
        """Memory errors, volatile (since the driver was loaded) and aggregate."""

    def remapped_rows(self) -> Values:
        """Rows that were remapped, and whether more are to come or could not be."""

    def nvlink(self) -> Values:
        """Links, their bytes and errors."""

    def pcie(self) -> Values:
        """The bus: bytes, replays, width and generation of the link."""

    def processes(self) -> list[Process] | None:
        """Who computes on it; None: not told."""

    def mig(self) -> Values:
        """Whether it is cut into instances, now and after the next reset."""

    def instances(self) -> list[Instance]:
        """Its MIG devices."""

    def recovery(self) -> Values:
        """What the driver itself wants to be done about it."""


class Source(Protocol):
    """All GPUs of a node."""

    @property
    def name(self) -> str:
        """What it is called in reports."""

    def open(self) -> Versions:
        """Get ready to list; Unavailable says why that cannot be."""

    def devices(self) -> list[Device | Missing]:
        """Every GPU, also those that cannot be reached: one that is lost never hides another."""

    def close(self) -> None:
        """Let go of the driver, so that it can be unloaded and GPUs can be reset."""
