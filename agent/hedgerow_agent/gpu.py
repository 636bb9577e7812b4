"""One GPU as the agent knows it: looked at on a thread of its own, judged by its checks, reported."""

from collections.abc import Callable, Sequence

from hedgerow import gpu_reasons as reasons
from hedgerow.wire_agent import (
    ACTION_INSPECT,
    ACTION_REBOOT,
    FAILED,
    GPU_LOST,
    GPU_PRESENT,
    GPU_SILENT,
    NOT_MEASURED,
    Finding,
    GpuProcess,
    GpuReport,
    MigInstance,
    worst,
)
from hedgerow_agent.bounded import Bounded
from hedgerow_agent.checks import gpu_checks
from hedgerow_agent.checks.base import Check
from hedgerow_agent.devices.base import Device, Gone, Identity, Process, Unavailable, Values
from hedgerow_agent.reading import Reading, read

# A look at a healthy GPU takes some tens of milliseconds; values older than this say nothing of now.
VALID_SECONDS = 10.0
_ALIKE = ("pcie_link_width", "pcie_link_generation", "nvlink_links_active", "power_limit_watts")


class Gpu:
    """Times are CLOCK_BOOTTIME seconds."""

    def __init__(self, identity: Identity, clock: Callable[[], float]) -> None:
        self.identity = identity
        self.lost_words = ""
        self.driver_words = ""
        self.broken: dict[str, str] = {}
        self._clock = clock
        self._device: Device | None = None
        self._thread = Bounded(f"gpu {identity.index}", clock)
        self._checks: list[Check] = gpu_checks()
        self._reading: Reading | None = None
        self._read_at = self._known_at = self._lost_at = clock()

    @property
    def state(self) -> str:
        """Present, Lost or Silent."""
        if self.lost_words:
            return GPU_LOST
        old = self._clock() - (self._read_at if self._reading else self._known_at)
        return GPU_SILENT if old > VALID_SECONDS else GPU_PRESENT

    def found(self, device: Device) -> None:
        """The driver lists it."""
        self.identity = device.identity
        if self._device is None or self.lost_words:
            self._device, self._known_at = device, self._clock()
        self.lost_words = ""

    def lost(self, words: str) -> None:
        """The driver lists it no more, or has no handle of it."""
        if not self.lost_words:
            self.lost_words, self._lost_at = words, self._clock()
            self._device, self._reading = None, None

    def renew(self) -> None:
        """Its handle means nothing any more; what is known of it stays."""
        self._device = None

    def begin_anew(self) -> None:
        """The driver was loaded anew: handles and counters of before mean nothing."""
        self._device, self._reading, self._checks = None, None, gpu_checks()
        self.lost_words, self._known_at = "", self._clock()

    def look(self) -> None:
        """Begin a look, unless the one before is not over."""
        device = self._device
        if device is not None:
            checks = self._checks
            self._thread.start(lambda: (device, read(device, checks)))

    def collect(self, wait_seconds: float, dropped: dict[str, int]) -> None:
        """Take what the last look gave; counts of what could not be true are added to ``dropped``."""
        outcome = self._thread.take(wait_seconds)
        if outcome is None:
            return
        if isinstance(outcome.error, Gone):
            self.lost(str(outcome.error))
        elif isinstance(outcome.error, Unavailable):
            self.driver_words = str(outcome.error)
        elif outcome.error is not None:
            self.broken = {"reading": f"{type(outcome.error).__name__}: {outcome.error}"[:200]}
        elif self._device is None or outcome.value[0] is self._device:
            self._take(outcome.value[1], dropped)

    def compared(self) -> Values:
        """Values in which GPUs of one kind should be alike."""
        values = self._reading.values if self._reading else {}
        return {name: values[name] for name in _ALIKE if name in values}

    def compare(self, best: Values) -> None:
        """What the best of its kind has."""
        if self._reading:
            self._reading.best = best

    def forget(self) -> None:
        """It is not looked at any more."""
        self._thread.end()

    def findings(self, now: float) -> list[Finding]:
        """What its checks say, and that it is lost or silent."""
        if self.state == GPU_LOST:
            return [self._lost_finding(now)]
        if self.state == GPU_SILENT:
            words = f"no call about it was answered for {now - self._read_at:.0f} s: nothing is known of it"
            silent = Finding(
                "presence", NOT_MEASURED, reasons.GPU_SILENT, ACTION_INSPECT, words, age=now - self._read_at
            )
            return [self._of(silent)]
        if self._reading is None:
            return []
        return [self._of(one) for check in self._checks for one in self._judge(check, self._reading, now)]

    def report(self, now: float, findings: Sequence[Finding], who: Callable[[Process], GpuProcess]) -> GpuReport:
        """As reports say it: of a GPU that does not answer now, only who it is."""
        mine = [finding.health for finding in findings if finding.gpu == self.identity.index]
        state = self.state
        about = self.identity
        reading = self._reading if state == GPU_PRESENT else None
        if reading is None:
            health = worst([*mine, NOT_MEASURED])
            age = now - self._read_at
            return GpuReport(about.index, state, about.uuid, about.pci, about.name, about.serial, health, age)
        return GpuReport(
            about.index, state, about.uuid, about.pci, about.name, about.serial, worst(mine), now - self._read_at,
            {name: _short(value) for name, value in reading.values.items()}, reading.throttle_reasons,
            None if reading.processes is None else [who(process) for process in reading.processes],
            [
                MigInstance(one.index, one.gpu_instance, one.compute_instance, one.uuid, dict(one.values))
                for one in reading.instances
            ],
        )  # fmt: skip

    def _take(self, reading: Reading, dropped: dict[str, int]) -> None:
        self._reading, self._read_at, self.broken = reading, self._clock(), dict(reading.broken)
        for name, count in reading.dropped.items():
            dropped[name] = dropped.get(name, 0) + count

    def _judge(self, check: Check, reading: Reading, now: float) -> list[Finding]:
        try:
            return check.judge(reading, now) if check.supported(reading) else []
        except Exception as error:  # noqa: BLE001 (one broken check never stops the others)
            self.broken[check.name] = f"{type(error).__name__}: {error}"[:200]
            return []

    def _lost_finding(self, now: float) -> Finding:
        # The driver says itself when a reboot is all it takes; otherwise such GPUs had to be taken out and put back.
        action = ACTION_REBOOT if "lost" in self.lost_words.lower() else ACTION_INSPECT
        words = f"the driver cannot reach it any more: {self.lost_words}"
        return self._of(Finding("presence", FAILED, reasons.GPU_LOST, action, words, age=now - self._lost_at))

    def _of(self, finding: Finding) -> Finding:
        return Finding(
            finding.check, finding.health, finding.reason, finding.action, finding.message, self.identity.index,
            finding.age,
        )  # fmt: skip


def _short(value: float) -> float:
    """As few digits as tell it: most values are whole numbers."""
    return int(value) if value.is_integer() else round(value, 3)
