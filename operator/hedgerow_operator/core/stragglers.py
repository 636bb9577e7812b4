"""Stragglers: workers that have become slow against their own past, while their peers have not."""

import statistics
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping, Sequence

from msgspec import Struct

# A worker counts as slow from this factor over its own pace, relative to its peers. Others use 1.33
# (a score of 0.75, NVIDIA Resiliency Extension) and 2 (times the median, DLRover's node check).
FACTOR = 1.75
CLOSE_FACTOR = 1.25
WINDOW = 8  # samples of one worker
LEAST_BASELINE = 24
BLOCK = 32
MOST_BLOCKS = 256


class Straggling(Struct, frozen=True, kw_only=True):
    """What is slow at one moment: worker -> how many times its own pace it takes, relative to its peers."""

    factors: dict[str, float]


class StragglerWatch:
    """Fed with each worker's step times; steady differences between workers are their own pace, and no trouble.

    relative: worker -> how many times its own pace it takes now, relative to its peers.
    """

    def __init__(self) -> None:
        self.relative: dict[str, float] = {}
        self._usual: dict[str, float] = {}
        self._windows: dict[str, deque[float]] = {}
        self._blocks: dict[str, list[float]] = {}
        self._block: dict[str, list[float]] = {}
        self._slow: set[str] = set()

    def add(self, samples: Mapping[str, float]) -> Straggling:
        """One sample of every worker that has one, taken at about the same time."""
        for worker, seconds in samples.items():
            self._add(worker, seconds)
        ratios = {worker: ratio for worker in self._windows if (ratio := self._ratio(worker)) is not None}
        ordered = sorted(ratios.values())
        factors = {worker: ratio / _peers(ordered, ratio) for worker, ratio in ratios.items() if len(ratios) > 1}
        self.relative = factors
        self._slow = {
            worker for worker, factor in factors.items() if factor >= (CLOSE_FACTOR if worker in self._slow else FACTOR)
        }
        return Straggling(factors={worker: factors[worker] for worker in sorted(self._slow)})

    def _add(self, worker: str, seconds: float) -> None:
        window = self._windows.setdefault(worker, deque())
        window.append(seconds)
        if len(window) <= WINDOW:
            return
        old = window.popleft()
        if worker in self._slow:
            return
        block = self._block.setdefault(worker, [])
        block.append(old)
        blocks = self._blocks.setdefault(worker, [])
        if len(block) == BLOCK or (not blocks and len(block) == LEAST_BASELINE):
            blocks.append(statistics.median(block))
            block.clear()
            self._usual[worker] = statistics.median(blocks)
        if len(blocks) > MOST_BLOCKS:
            self._blocks[worker] = blocks[::2]

    def _ratio(self, worker: str) -> float | None:
        usual = self._usual.get(worker, 0.0)
        return statistics.median(self._windows[worker]) / usual if usual > 0 else None


def _peers(ordered: Sequence[float], own: float) -> float:
    """How the others stand to their own pace; never below 1: peers that got faster make nobody slow.

    ordered: the ratios of all, ``own`` among them. The median without it, found in place.
    """
    at, others = bisect_left(ordered, own), len(ordered) - 1
    low, high = (others - 1) // 2, others // 2
    return max(1.0, (ordered[low + (low >= at)] + ordered[high + (high >= at)]) / 2.0)
