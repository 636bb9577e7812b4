"""Broken and drifting numbers: NaN or infinite loss, spikes against the job's own past, memory that leaks."""

import math
import statistics
from collections import deque

from msgspec import Struct

from hedgerow.logs import observation as names

LOSS_SPIKE = "loss-spike"
GRADIENT_SPIKE = "gradient-spike"
MEMORY_LEAK = "memory-leak"

PAST = 64
LEAST_PAST = 8
# So many deviations (of the past's own steps, robustly) and at least this share above the past's median.
SPIKE_DEVIATIONS = 8.0
LEAST_RISE = {names.LOSS: 0.1, names.GRAD_NORM: 2.0}
OTHER_RISE = 0.5
# While fewer values than that are known, more is asked for.
_NORMAL = 1.4826
LEAK_SAMPLES = 128
LEAK_SHARE = 0.05  # growth over the samples, of the first of them
LEAK_RISES = 0.9  # share of pairs that must rise: a leak goes one way, a cache levels off


class Alarm(Struct, frozen=True, kw_only=True):
    """One alarm that goes on."""

    name: str
    message: str


class SpikeWatch:
    """One value against its own past; the past learns nothing from a spike."""

    def __init__(self, value: str, name: str) -> None:
        self.name = name
        self._value = value
        self._past: deque[float] = deque(maxlen=PAST)

    def add(self, amount: float) -> Alarm | None:
        """The alarm that ``amount`` raises, None for an ordinary one."""
        if not math.isfinite(amount):
            return None
        bound = self._bound()
        if bound is not None and amount > bound:
            usual = statistics.median(self._past)
            return Alarm(name=self.name, message=f"{self._value} is {amount:.4g}, its own past says {usual:.4g}")
        self._past.append(amount)
        return None

    def _bound(self) -> float | None:
        """As little as two values of a past set a bound, but a wide one."""
        if len(self._past) < 1:
            return None
        middle = statistics.median(self._past)
        spread = _NORMAL * statistics.median(abs(amount - middle) for amount in self._past)
        few = max(1.0, LEAST_PAST / len(self._past))
        return middle + max(SPIKE_DEVIATIONS * spread, LEAST_RISE.get(self._value, OTHER_RISE) * abs(middle)) * few


class LeakWatch:
    """Memory over steps: a robust slope (Theil 1950, Sen 1968) over the newest samples."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque(maxlen=LEAK_SAMPLES)

    def add(self, time: float, amount: float, limit: float | None = None) -> Alarm | None:
        """The alarm that the memory (bytes) at ``time`` (seconds) raises. ``limit``: bytes at which it ends."""
        self._samples.append((time, amount))
        if len(self._samples) < LEAK_SAMPLES:
            return None
        rate, rises = slope(list(self._samples))
        first, last = self._samples[0], self._samples[-1]
        if rises < LEAK_RISES or rate * (last[0] - first[0]) < LEAK_SHARE * first[1]:
            return None
        text = f"memory grows by {rate * 3600 / 2**20:.0f} MiB an hour"
        if limit is not None and rate > 0:
            text += f" and reaches its limit in {(limit - amount) / rate:.0f} s"
        return Alarm(name=MEMORY_LEAK, message=text)


def slope(samples: list[tuple[float, float]]) -> tuple[float, float]:
    """The median rise a second between samples half the series apart, and the share of those pairs that rise."""
    half = len(samples) // 2
    pairs = list(zip(samples[:half], samples[half:], strict=False))
    rates = [(late[1] - early[1]) / (late[0] - early[0]) for early, late in pairs if late[0] > early[0]]
    if not rates:
        return 0.0, 0.0
    return statistics.median(rates), sum(rate > 0 for rate in rates) / len(rates)


def not_a_number(value: str, amount: float) -> Alarm | None:
    """The alarm that a NaN or an infinite value raises."""
    if math.isfinite(amount):
        return None
    return Alarm(name=broken(value), message=f"{value} is {'NaN' if math.isnan(amount) else 'infinite'}")


def broken(value: str) -> str:
    """Name of the alarm on a value that is no number: ``nan-loss``."""
    return f"nan-{value.replace('_', '-')}"
