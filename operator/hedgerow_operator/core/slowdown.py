"""Slow-downs: steps that take clearly longer than this job's own, for a while."""

import math
import statistics
from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

THRESHOLD_PERCENT = 10.0
WINDOW_SECONDS = 60.0
# The first steps compile and fill caches; the baseline needs some more before anything can be said.
WARM_UP_STEPS = 5
LEAST_BASELINE = 24
LEAST_WINDOW = 8
FRESH_SHARE = 16  # the window is looked at again once one in so many of its steps is new
MOST_WINDOW = 512
BLOCK = 32
MOST_BLOCKS = 256
# For half a window the median must stand out of what chance does to it, by so many of its standard errors …
STANDARD_ERRORS = 5.0
# … and of what the job does from one block of steps to the next: so many of its usual changes.
BLOCK_DEVIATIONS = 4.0
# A shift moves most steps; a few long ones among many as before are pauses.
SHIFTED_SHARE = 0.75
_MEDIAN_ERROR = 1.2533  # standard error of a median over that of a mean, for a normal sample
_NORMAL = 1.4826  # standard deviation over median absolute deviation, for a normal sample


class Slow(Struct, frozen=True, kw_only=True):
    """A slow-down that began: at what time (seconds), how long the steps took before and take now (seconds)."""

    since: float
    usual: float
    now: float

    @property
    def percent(self) -> float:
        """How much longer, in percent."""
        return 100.0 * (self.now / self.usual - 1.0)


class Sampling(Struct, frozen=True, kw_only=True):
    """How many samples are left out at first, are asked for in the first block, in a window, and in a block. errors:
    standard errors by which the median of a window must stand out.
    """

    warm_up: int = WARM_UP_STEPS
    least_baseline: int = LEAST_BASELINE
    least_window: int = LEAST_WINDOW
    block: int = BLOCK
    errors: float = STANDARD_ERRORS


STEP_BY_STEP = Sampling()


class SlowdownWatch:
    """Fed with every finished step. ``slow`` is the slow-down that goes on, None when there is none.

    The baseline is the lower quartile of the medians of blocks of steps so far, so that it neither follows a slow drift
    nor a single good spell; it starts anew when the work of a step changes. ``baseline``: such medians from before,
    of steps of this ``load``.
    """

    def __init__(
        self,
        threshold_percent: float = THRESHOLD_PERCENT,
        window_seconds: float = WINDOW_SECONDS,
        baseline: Sequence[float] = (),
        load: tuple[float, ...] = (),
        sampling: Sampling = STEP_BY_STEP,
    ) -> None:
        self.slow: Slow | None = None
        self._threshold = 1.0 + threshold_percent / 100.0
        self._window_seconds = window_seconds
        self._sampling = sampling
        self._load = load
        self._fresh = self._standing_out = 0
        self._reset()
        self._blocks.extend(baseline)

    @property
    def blocks(self) -> list[float]:
        """The medians that the baseline is made of, seconds."""
        return self._blocks

    @property
    def settled(self) -> bool:
        """Whether a whole window has been compared, and does not stand out: what is not slow by then is not."""
        return self.ready and self._settled and (self.slow is not None or not self._standing_out)

    @property
    def ready(self) -> bool:
        """Whether there is something to compare with, and something to compare."""
        return bool(self._blocks) and len(self._window) >= self._sampling.least_window

    def add(self, time: float, seconds: float, load: tuple[float, ...] = (), share: float = 1.0) -> None:
        """A step of ``seconds`` that ended at ``time``. ``load``: what says how much work it was (batch, sequence).

        share: how much of it was in no sample before; medians of steps that overlap tell less than so many apart.
        """
        if load != self._load:
            self._load = load
            self._reset()
        self._count += 1
        if self._count <= self._sampling.warm_up or seconds <= 0.0:
            return
        self._share = share
        self._window.append((time, seconds))
        while len(self._window) > self._sampling.least_window and self._window[0][0] < time - self._window_seconds:
            self._settled = True
            self._age(self._window.popleft()[1])
        if len(self._window) == MOST_WINDOW:
            self._age(self._window.popleft()[1])
        self._fresh += 1
        if self._fresh * FRESH_SHARE >= len(self._window):
            judged, self._fresh = self._fresh, 0
            self._judge(time, judged)

    def _reset(self) -> None:
        self.slow = None
        self._share = 1.0
        self._settled = False
        self._count: int = 0
        self._fresh = self._standing_out = 0
        self._window: deque[tuple[float, float]] = deque()
        self._block: list[float] = []
        self._blocks: list[float] = []
        self._steps: deque[float] = deque(maxlen=BLOCK * 8)

    def _age(self, seconds: float) -> None:
        """A step leaves the window for the past; while the job is slow the past learns nothing."""
        if self.slow is not None:
            return
        self._steps.append(seconds)
        self._block.append(seconds)
        whole = self._sampling.block if self._blocks else self._sampling.least_baseline
        if len(self._block) >= whole:
            self._blocks.append(statistics.median(self._block))
            self._block.clear()
        if len(self._blocks) > MOST_BLOCKS:
            self._blocks = self._blocks[::2]

    def _judge(self, time: float, judged: int) -> None:
        """``judged``: how many steps of the window are new."""
        if not self.ready:
            return
        steps = [seconds for _time, seconds in self._window]
        usual = _lower_quartile(self._blocks)
        now = statistics.median(steps)
        if self.slow is not None:
            if now < usual * (1.0 + (self._threshold - 1.0) / 2.0):
                self.slow = None
            return
        if now < usual * self._threshold or now < usual + self._noise(len(steps)):
            self._standing_out = 0
            return
        self._standing_out += judged
        shifted = sum(seconds >= (usual + now) / 2.0 for seconds in steps) >= SHIFTED_SHARE * len(steps)
        if shifted and self._standing_out * 2 > len(steps):
            self.slow = Slow(since=time, usual=usual, now=now)

    def _noise(self, window: int) -> float:
        """What the medians of ``window`` steps and of the past do by themselves, seconds."""
        past = len(self._blocks) * self._sampling.least_baseline
        error = _MEDIAN_ERROR * _spread(self._steps) * math.sqrt((1.0 / window + 1.0 / past) / self._share)
        changes = [abs(after - before) for before, after in pairwise(self._blocks)]
        return max(self._sampling.errors * error, BLOCK_DEVIATIONS * statistics.median(changes) if changes else 0.0)


def _spread(values: deque[float]) -> float:
    if len(values) < 2:
        return 0.0
    middle = statistics.median(values)
    return _NORMAL * statistics.median(abs(value - middle) for value in values)


def _lower_quartile(values: list[float]) -> float:
    return sorted(values)[(len(values) - 1) // 4]
