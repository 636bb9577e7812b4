"""Histograms of durations in the buckets of the wire format."""

from __future__ import annotations

import math
from typing import Dict

from hedgerow.wire import (
    DURATION_GROWTH,
    MAX_PHASE_NAME,
    MAX_PHASES,
    PHASE_CHECKPOINT,
    PHASE_ENDING,
    PHASE_EVAL,
    PHASE_FIRST_STEP,
    PHASE_INIT,
    PHASE_OTHER,
    PHASE_STEP,
)

Histogram = Dict[int, int]

# There is always room for these.
_OWN_PHASES = {PHASE_INIT, PHASE_FIRST_STEP, PHASE_STEP, PHASE_CHECKPOINT, PHASE_EVAL, PHASE_ENDING, PHASE_OTHER}
_LOG_GROWTH = math.log(DURATION_GROWTH)


def bucket(seconds: float) -> int:
    """The bucket of a length: k holds (GROWTH**(k-1), GROWTH**k] milliseconds; up to 1 ms is bucket 0."""
    milliseconds = seconds * 1000.0
    if milliseconds <= 1.0:
        return 0
    # Rounding first keeps exact powers in their own bucket.
    return math.ceil(round(math.log(milliseconds) / _LOG_GROWTH, 9))


def add(histogram: Histogram, seconds: float, count: int = 1) -> None:
    """Count ``count`` intervals of ``seconds`` each."""
    key = bucket(seconds)
    histogram[key] = histogram.get(key, 0) + count


def merge(into: Dict[str, Histogram], more: Dict[str, Histogram]) -> None:
    """Add the counts of ``more`` (phase -> histogram) to ``into``."""
    for phase, histogram in more.items():
        target = into.setdefault(phase_within(into, phase), {})
        for key, count in histogram.items():
            target[key] = target.get(key, 0) + count


def phase_within(known: Dict[str, Histogram], phase: str) -> str:
    """The name that ``phase`` gets beside the ``known`` ones: a report has room for so many names, of such a length."""
    phase = phase[:MAX_PHASE_NAME]
    if phase in known or phase in _OWN_PHASES:
        return phase
    return phase if len(known) < MAX_PHASES - len(_OWN_PHASES) else PHASE_OTHER
