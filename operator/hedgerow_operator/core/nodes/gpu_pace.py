"""What a rank's GPU draws and does while the rank trains, and whether it now does far less: the second evidence of a
standstill where neither processor time nor stack can tell one that waits busily from one that works.

Utilisation is not looked at: a GPU that waits in a collective is 100 % busy. Power and activity differ from GPU to GPU
and from job to job, so each is held against what this GPU did under this rank, never against a number of ours.
"""

from msgspec import Struct

from hedgerow.wire_agent import GpuReport
from hedgerow_operator.core.nodes.places import GPUPlace

# Name of a value -> what is said of it, and the share of its usual value below which it is far below it. Power has a
# floor that no idle GPU goes below, activity has none.
MEASURES = {
    "power_watts": ("draws {now:.0f} W instead of {usual:.0f} W", 0.6),
    "sm_activity_percent": ("computes {now:.0f} % of the time instead of {usual:.0f} %", 0.3),
    "tensor_activity_percent": ("uses its tensor cores {now:.0f} % of the time instead of {usual:.0f} %", 0.3),
}
# It must also be below the least that was ever seen while the rank trained: phases of a step differ.
BELOW_LEAST = 0.9
LEAST_SAMPLES = 10
# How much of the usual value each sample replaces, once there are enough.
_WEIGHT = 0.1
_FORGOTTEN = 0.05


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

    def well_above(self, value: float, share: float) -> bool:
        """Whether what is usual is far above the value."""
        enough = self.samples >= LEAST_SAMPLES
        return enough and value < share * self.mean and value < BELOW_LEAST * self.least


class GPUPace:
    """The GPUs of one job's ranks. A sample counts once its rank has got further since: it was of no standstill."""

    def __init__(self) -> None:
        self._usual: dict[int, tuple[GPUPlace, dict[str, Usual]]] = {}
        self._steps: dict[int, int] = {}
        self._now: dict[int, GpuReport] = {}

    def take(self, rank: int, step: int | None, place: GPUPlace, gpu: GpuReport) -> None:
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
        self._now[rank] = gpu

    def far_below(self, rank: int) -> str:
        """What its GPU does so much less than usual, as the end of a sentence; empty: nothing, or it is not known."""
        gpu, known = self._now.get(rank), self._usual.get(rank)
        if gpu is None or known is None:
            return ""
        found = []
        for name, (words, share) in MEASURES.items():
            value, usual = gpu.values.get(name), known[1].get(name)
            if value is None or usual is None:
                continue
            if not usual.well_above(value, share):
                return ""  # one that is as usual speaks for work
            found.append(words.format(now=value, usual=usual.mean))
        return " and ".join(found)


def _add(usual: dict[str, Usual], gpu: GpuReport) -> None:
    for name in MEASURES:
        value = gpu.values.get(name)
        if value is not None:
            usual.setdefault(name, Usual()).add(value)
