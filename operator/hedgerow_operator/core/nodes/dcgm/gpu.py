"""One GPU from scrape to scrape of an exporter: how old its values are, what speaks against it, whether it is there."""

import dataclasses

from hedgerow import gpu_faults
from hedgerow import gpu_reasons as reasons
from hedgerow.gpu_faults import ECC_WINDOW_SECONDS, LINK_WINDOW_SECONDS, Rising
from hedgerow.wire_agent import (
    ACTION_INSPECT,
    FAILED,
    GPU_LOST,
    GPU_PRESENT,
    GPU_SILENT,
    GPU_VALUES,
    NOT_MEASURED,
    Finding,
    GpuEvent,
    GpuReport,
    MigInstance,
    in_range,
    worst,
)
from hedgerow_operator.core.nodes.dcgm.fields import ENERGY, POWER, values
from hedgerow_operator.core.nodes.dcgm.text import GpuText
from hedgerow_operator.core.nodes.dcgm.xids import Xids

# The exporter asks the GPUs every 30 s unless it is told otherwise (its option --collect-interval).
COLLECT_SECONDS = 30.0
# A counter of energy that stands still is one that nobody reads any more; power to the milliwatt hardly ever does.
FROZEN_SECONDS = {ENERGY: 4 * COLLECT_SECONDS, POWER: 600.0}
# Only a GPU that is missing for so long, and so many times, is lost: one text may be of a moment in between.
LOST_SECONDS = COLLECT_SECONDS
LOST_TIMES = 3

Signature = tuple[dict[str, float], dict[int, dict[str, float]]]


class Gpu:
    """Times are seconds of one monotonic clock."""

    def __init__(self, text: GpuText) -> None:
        self.index, self.uuid, self.pci, self.name = text.index, text.uuid, text.pci, text.name
        self.xids = Xids()
        self._text = text
        self._signature: Signature | None = None
        self._changed = self._measured = float("-inf")
        self._missing: tuple[int, float] = (0, 0.0)
        self._uncorrectable = Rising(ECC_WINDOW_SECONDS)
        self._recoveries, self._replays = Rising(LINK_WINDOW_SECONDS), Rising(LINK_WINDOW_SECONDS)
        self._values: dict[str, float] = {}
        self._instances: dict[int, dict[str, float]] = {}

    def is_of(self, text: GpuText) -> bool:
        """Whether the text is about this GPU, and not about another one in its place."""
        return not (self.uuid and text.uuid) or self.uuid == text.uuid

    def take(self, text: GpuText, now: float, before: float | None, dropped: dict[str, int]) -> None:
        """Its lines of this scrape. before: when the scrape before was; None: this is the first."""
        signature = (text.raw, {number: instance.raw for number, instance in text.instances.items()})
        used = self._signature[0].get(ENERGY, 0.0) if self._signature else 0.0
        if text.raw.get(ENERGY, used) < used:
            self.xids.driver_loaded()
        if signature != self._signature:
            # It was measured at some time since the scrape before.
            self._measured = now - COLLECT_SECONDS if before is None else before
            self._changed = now
        self._signature, self._text, self._missing = signature, text, (0, 0.0)
        self.uuid, self.pci, self.name = text.uuid or self.uuid, text.pci or self.pci, text.name or self.name
        self.xids.take(text, now)
        self._values = in_range(values(text.raw), GPU_VALUES, dropped)
        self._instances = {
            number: in_range(values(instance.raw), GPU_VALUES, dropped) for number, instance in text.instances.items()
        }
        if text.instances:
            self._values["mig_enabled"] = 1.0

    def miss(self, now: float) -> None:
        """The exporter tells of other GPUs, and not of this one."""
        times, since = self._missing
        self._missing = (times + 1, since if times else now)

    def lost(self, now: float) -> bool:
        """Whether it has been missing for long enough."""
        times, since = self._missing
        return times >= LOST_TIMES and now - since >= LOST_SECONDS

    def frozen(self, now: float) -> bool:
        """Whether its values are the same ones for longer than a GPU that is measured can show."""
        told = self._signature[0] if self._signature else {}
        limit = next((seconds for name, seconds in FROZEN_SECONDS.items() if name in told), None)
        return limit is not None and now - self._changed >= limit

    def findings(self, now: float) -> list[Finding]:
        """What speaks against it, and that nothing is known of it."""
        found = [one for event in self.held(now) for one in gpu_faults.of_event(event)]
        return [dataclasses.replace(one, gpu=self.index) for one in [*found, *self._by_values(now)]]

    def standing(self, now: float) -> list[GpuEvent]:
        """Its Xids."""
        return self.xids.standing(self.index, self.pci, now)

    def held(self, now: float) -> list[GpuEvent]:
        """Those Xids that still count."""
        return self.xids.held(self.index, self.pci, now)

    def report(self, now: float, findings: list[Finding]) -> GpuReport:
        """As reports say it: of a GPU that is not measured now, only who it is."""
        state = self._state(now)
        mine = [one.health for one in findings if one.gpu == self.index]
        known = state == GPU_PRESENT and (self._values or any(self._instances.values()) or mine)
        about = GpuReport(
            self.index, state, self.uuid, self.pci, self.name, age=now - self._measured,
            health=worst(mine if known else [*mine, NOT_MEASURED]), containers=list(self._text.containers),
        )  # fmt: skip
        if not known:
            return about
        return dataclasses.replace(about, values=self._values, instances=self._mig())

    def _state(self, now: float) -> str:
        if self.lost(now):
            return GPU_LOST
        return GPU_SILENT if self.frozen(now) or self._missing[0] else GPU_PRESENT

    def _mig(self) -> list[MigInstance]:
        return [
            MigInstance(place, number, values=self._instances[number], containers=list(instance.containers))
            for place, (number, instance) in enumerate(sorted(self._text.instances.items()))
        ]

    def _by_values(self, now: float) -> list[Finding]:
        if self.lost(now):
            words = "the exporter tells of the others, and not of it any more"
            age = now - self._missing[1]
            return [Finding("presence", FAILED, reasons.GPU_LOST, ACTION_INSPECT, words, age=age)]
        if self.frozen(now):
            age = now - self._changed
            words = f"its values have been the same ones for {age:.0f} s: the exporter does not measure it any more"
            return [Finding("presence", NOT_MEASURED, reasons.GPU_SILENT, ACTION_INSPECT, words, age=age)]
        if self._missing[0]:
            return []
        told = self._values
        return [
            *gpu_faults.of_remapping(told),
            *gpu_faults.of_uncorrectable(
                self._uncorrectable.rise(told.get("ecc_volatile_uncorrectable_errors"), now), told
            ),
            *gpu_faults.of_link_recoveries(self._recoveries.rise(told.get("nvlink_recovery_errors"), now)),
            *gpu_faults.of_replays(self._replays.rise(told.get("pcie_replays"), now)),
        ]
