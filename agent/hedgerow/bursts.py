"""Tells lines that come as they are printed from lines that come in bursts, out of a block-buffered pipe. Pure."""

from __future__ import annotations

import collections
from typing import Deque, Optional, Set

# Lines of one write arrive within this, as the pump takes them chunk by chunk.
TOGETHER_NS = 5_000_000
# What goes on for longer is a fast job and no burst.
LONGEST_NS = 250_000_000
# Below this no deadline is short enough for bursts to matter.
SILENCE_NS = 1_000_000_000
# A step may print a few lines at once; as many steps as this at once were held back.
STEPS = 3
_REMEMBERED = 8


class Bursts:
    """The boundaries of one stream, in order of arrival."""

    def __init__(self) -> None:
        self._began: Optional[int] = None
        self._newest = 0
        self._silent_before = False
        self._steps: Set[int] = set()
        self._closed: Deque[bool] = collections.deque(maxlen=_REMEMBERED)

    def add(self, time_ns: int, step: Optional[int]) -> bool:
        """Take in one boundary; True when it came together with the one before."""
        together = self._goes_on(time_ns)
        if not together:
            self._close(time_ns)
        self._newest = time_ns
        if step is not None:
            self._steps.add(step)
        return together

    @property
    def bursty(self) -> bool:
        """Whether at least half of the recent arrivals were bursts, and there were two."""
        return sum(self._closed) >= max(2, (len(self._closed) + 1) // 2)

    def _goes_on(self, time_ns: int) -> bool:
        return self._began is not None and time_ns - self._newest < TOGETHER_NS and time_ns - self._began < LONGEST_NS

    def _close(self, time_ns: int) -> None:
        silent = self._began is None or time_ns - self._newest >= SILENCE_NS
        if self._began is not None:
            self._closed.append(self._silent_before and silent and len(self._steps) >= STEPS)
        self._silent_before = silent
        self._began = time_ns
        self._steps = set()
