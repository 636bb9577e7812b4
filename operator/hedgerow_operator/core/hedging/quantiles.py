"""Quantiles of durations of which the older count no more after a while; they can be merged over gateways."""

from collections.abc import Iterator
from itertools import chain

from ddsketch import DDSketch
from msgspec import Struct

# Values come back within this share of what they were.
_ACCURACY = 0.01
# A sketch is replaced after so many values; the one before it counts until then.
_GENERATION = 64
# What answers quickly is within this factor of the quickest quarter; queues of cold containers are five times longer
# (GPUHedge's traces: 1.1 to 2.0 s, and 8.9 to 27.6 s).
_QUICK_FACTOR = 2.0
_QUICK_SHARE = 0.25
_UPPER = 0.9
_HALVINGS = 12


class Quick(Struct, frozen=True):
    """The mode in which a provider is quick: 90 % of its values are at most ``upper``, all at most ``limit``."""

    upper: float
    limit: float


class Quantiles:
    """Fixed size, whatever the number of values."""

    def __init__(self) -> None:
        self._new, self._old = DDSketch(_ACCURACY), DDSketch(_ACCURACY)
        self._quick: Quick | None = None
        self._known = False

    @property
    def count(self) -> int:
        """How many values it stands for."""
        return int(self._new.count + self._old.count)

    def add(self, seconds: float) -> None:
        """One value more."""
        if self._new.count >= _GENERATION:
            self._new, self._old = DDSketch(_ACCURACY), self._new
        self._new.add(seconds)
        self._known = False

    def merge(self, other: "Quantiles") -> None:
        """Take in what another gateway has seen."""
        for sketch in other._sketches():
            self._new.merge(sketch)
        self._known = False

    def quick(self) -> Quick | None:
        """The quick mode, which a sick one cannot widen; None: there are no values."""
        if not self._known:
            self._quick, self._known = _quick_of(self._both()), True
        return self._quick

    def at(self, share: float) -> float | None:
        """The value that ``share`` of all are at most; None: there are no values."""
        both = self._both()
        return _at(both, share) if both.count else None

    def _both(self) -> DDSketch:
        both = DDSketch(_ACCURACY)
        for sketch in self._sketches():
            both.merge(sketch)
        return both

    def _sketches(self) -> Iterator[DDSketch]:
        return (sketch for sketch in chain((self._old,), (self._new,)) if sketch.count)


def _quick_of(sketch: DDSketch) -> Quick | None:
    if not sketch.count:
        return None
    limit = _at(sketch, _QUICK_SHARE) * _QUICK_FACTOR
    return Quick(_at(sketch, _share_below(sketch, limit) * _UPPER), limit)


def _share_below(sketch: DDSketch, limit: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _at(sketch, middle) <= limit else (low, middle)
    return low


def _at(sketch: DDSketch, share: float) -> float:
    value = sketch.get_quantile_value(share)
    assert value is not None  # it has values
    return float(value)
