"""What a rank's GPU draws and does while the rank trains, and whether it now does far less: the second evidence of a
standstill where neither processor time nor stack can tell one that waits busily from one that works.

Utilisation is not looked at: a GPU that waits in a collective is 100 % busy. Power and activity differ from GPU to GPU
and from job to job, so each is held against what this GPU did under this rank, never against a number of ours.
"""

from collections.abc import Mapping

from msgspec import Struct

from hedgerow.wire_agent import GpuReport
from hedgerow_operator.core.nodes.places import GPUPlace

LINK = "nvlink_megabytes_per_second"
# Name of a value -> what is said of it, and the share of its usual value below which it is far below it. Power has a
# floor that no idle GPU goes below, activity has none.
MEASURES = {
    "power_watts": ("draws {now:.0f} W instead of {usual:.0f} W", 0.6),
    "sm_activity_percent": ("computes {now:.0f} % of the time instead of {usual:.0f} %", 0.3),
    "tensor_activity_percent": ("uses its tensor cores {now:.0f} % of the time instead of {usual:.0f} %", 0.3),
    LINK: ("moves {now:.0f} MB/s over NVLink instead of {usual:.0f} MB/s", 0.1),
}
_LINK_COUNTERS = ("nvlink_transmitted_bytes", "nvlink_received_bytes")
_LINK_RATES = ("nvlink_transmitted_bytes_per_second", "nvlink_received_bytes_per_second")
# It must also be below the least that was ever seen while the rank trained: phases of a step differ.
BELOW_LEAST = 0.9
LEAST_SAMPLES = 10
# How much of the usual value each sample replaces, once there are enough.
_WEIGHT = 0.1
_FORGOTTEN = 0.05
_RESTS = 0.2
# Closer together they are of one look at the GPU, told twice.
_LEAST_APART = 0.5


class Usual(Struct):
    """What one measure of one GPU was while the rank trained: fixed in size, however long that goes on."""

    samples: int = 0
    mean: float = 0.0
    least: float = float("inf")

    def add(self, value: float) -> None:
        """A sample taken while the rank made progress."""
        self.samples += 1
        self.mean += (value - self.mean) * max(_WEIGHT, 1.0 / self.samples)
        # One sample of a pause must not hide every later one: it is forgotten as the others go on.
        self.least = min(self.least + _FORGOTTEN * (self.mean - self.least), value) if self.samples > 1 else value

    @property
    def rests(self) -> bool:
        """Whether it was next to nothing while the rank trained, as a link is between two collectives."""
        return self.least <= _RESTS * self.mean

    def well_above(self, value: float, share: float) -> bool:
        """Whether what is usual is far above the value."""
        enough = self.samples >= LEAST_SAMPLES
        return enough and value < share * self.mean and value < BELOW_LEAST * self.least


def link_rate(before: GpuReport | None, now: GpuReport, seconds: float) -> dict[str, float]:
    """LINK as it is told, or by counters of two reports so many seconds apart; empty where they are not known, or were
    begun anew."""
    told = [now.values[name] for name in _LINK_RATES if name in now.values]
    if len(told) == len(_LINK_RATES):
        return {LINK: sum(told) / 1e6}
    if before is None or before.uuid != now.uuid or seconds < _LEAST_APART:
        return {}
    moved = 0.0
    for name in _LINK_COUNTERS:
        first, last = before.values.get(name), now.values.get(name)
        if first is None or last is None or last < first:
            return {}
        moved += last - first
    return {LINK: moved / seconds / 1e6}


class GPUPace:
    """The GPUs of one job's ranks. A sample counts once its rank has got further since: it was of no standstill."""

    def __init__(self) -> None:
        self._usual: dict[int, tuple[GPUPlace, dict[str, Usual]]] = {}
        self._steps: dict[int, int] = {}
        self._now: dict[int, Mapping[str, float]] = {}

    def take(self, rank: int, step: int | None, place: GPUPlace, values: Mapping[str, float]) -> None:
        """What the agent said of the GPU of a rank that has reached this step."""
        known = self._usual.get(rank)
        if known is None or known[0] != place:
            known = self._usual[rank] = (place, {})
            self._steps.pop(rank, None)
        before = self._steps.get(rank)
        if step is not None:
            self._steps[rank] = step
            if before is not None and step > before:
                _add(known[1], self._now[rank])
        self._now[rank] = values

    def far_below(self, rank: int) -> str:
        """What its GPU does so much less than usual, as the end of a sentence; empty: nothing, or it is not known."""
        shown, known = self._now.get(rank), self._usual.get(rank)
        if shown is None or known is None:
            return ""
        found = []
        for name, (words, share) in MEASURES.items():
            value, usual = shown.get(name), known[1].get(name)
            if value is None or usual is None or (name == LINK and usual.rests and value <= share * usual.mean):
                continue
            if not usual.well_above(value, share):
                return ""  # one that is as usual speaks for work
            found.append(words.format(now=value, usual=usual.mean))
        return " and ".join(found)


def _add(usual: dict[str, Usual], shown: Mapping[str, float]) -> None:
    for name in MEASURES:
        value = shown.get(name)
        if value is not None:
            usual.setdefault(name, Usual()).add(value)
