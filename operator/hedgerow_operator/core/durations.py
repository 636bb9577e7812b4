"""Histograms of durations: what a job has shown of its own pace, small enough to live in an annotation."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec
from msgspec import Struct

from hedgerow.wire import DURATION_GROWTH
from hedgerow_operator.core.pause import Pause

Histogram = Mapping[int, int]  # bucket -> count; bucket k holds (GROWTH**(k-1), GROWTH**k] milliseconds
Phases = Mapping[str, Histogram]

# What lies this many times beyond the 90th percentile, and is not more than this share of all, is no habit.
OUTLIER_FACTOR = 1.5
OUTLIER_SHARE = 0.05
_MILLIS = 1000.0
# A bucket beyond a week is no duration but a broken report.
_LAST_BUCKET = 118


@lru_cache(maxsize=2 * _LAST_BUCKET)
def upper_seconds(bucket: int) -> float:
    """Longest duration that falls into this bucket, in seconds."""
    return float(DURATION_GROWTH ** min(bucket, _LAST_BUCKET)) / _MILLIS


def count(histogram: Histogram) -> int:
    """Number of durations."""
    return sum(histogram.values())


def quantile(histogram: Histogram, share: float) -> float:
    """Upper bound of the given quantile in seconds; 0.0 for an empty histogram."""
    wanted = share * count(histogram)
    passed = 0
    for bucket in sorted(histogram):
        passed += histogram[bucket]
        if passed >= wanted:
            return upper_seconds(bucket)
    return 0.0


def longest(histogram: Histogram) -> float:
    """Upper bound of the longest duration in seconds; 0.0 for an empty histogram."""
    return upper_seconds(max(histogram)) if histogram else 0.0


def trimmed(histogram: Histogram) -> Histogram:
    """``histogram`` without durations far beyond the 90th percentile that are rare: one of them, or OUTLIER_SHARE."""
    bound = OUTLIER_FACTOR * quantile(histogram, 0.9)
    beyond = {bucket for bucket in histogram if upper_seconds(bucket) > bound}
    if sum(histogram[bucket] for bucket in beyond) > max(1.0, OUTLIER_SHARE * count(histogram)):
        return histogram
    return {bucket: amount for bucket, amount in histogram.items() if bucket not in beyond}


def merge(parts: Iterable[Phases]) -> dict[str, dict[int, int]]:
    """The sum of several sets of histograms."""
    total: dict[str, dict[int, int]] = {}
    for part in parts:
        for phase, histogram in part.items():
            into = total.setdefault(phase, {})
            for bucket, amount in histogram.items():
                into[bucket] = into.get(bucket, 0) + amount
    return total


class Learned(Struct, frozen=True, kw_only=True):
    """Durations of the attempts before ``attempt``, and of that attempt as far as it was stored. pauses: the newest, of
    all attempts.
    """

    attempt: int = 0
    past: dict[str, dict[int, int]] = {}
    current: dict[str, dict[int, int]] = {}
    pauses: tuple[Pause, ...] = ()

    def phases(self) -> dict[str, dict[int, int]]:
        """Everything learned so far."""
        return merge((self.past, self.current))


def decode_learned(text: str | None) -> Learned:
    """What the annotation holds; nothing learned when it is missing or unreadable (learning starts again)."""
    if not text:
        return Learned()
    try:
        return msgspec.json.decode(text, type=Learned)
    except msgspec.MsgspecError:
        return Learned()


def encode_learned(learned: Learned) -> str:
    """The text of the annotation."""
    return msgspec.json.encode(learned).decode()


def observe(learned: Learned, attempt: int, seen: Phases) -> Learned:
    """``learned`` with the cumulative durations of ``attempt``; those of an older attempt move to the past."""
    if attempt == learned.attempt:
        # Launchers report cumulative counts: a set that shrank comes from fewer launchers heard, not from less work.
        kept = seen if _total(seen) >= _total(learned.current) else learned.current
        return Learned(attempt=attempt, past=learned.past, current=merge((kept,)), pauses=learned.pauses)
    return Learned(attempt=attempt, past=learned.phases(), current=merge((seen,)), pauses=learned.pauses)


def worth_storing(stored: Learned, current: Learned) -> bool:
    """Whether the annotation should be written: at a new attempt or pause, or when half as much again was learned."""
    if stored.pauses != current.pauses:
        return True
    if stored.attempt != current.attempt:
        return _total(current.current) > 0 or stored.attempt == 0
    return _total(current.current) > 1.5 * _total(stored.current)


def _total(phases: Phases) -> int:
    return sum([count(histogram) for histogram in phases.values()])
