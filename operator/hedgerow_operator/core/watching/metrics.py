"""The numbers that a rank's report tells, by the names that alerts use."""

import math
from collections.abc import Iterable, Iterator

from hedgerow.wire import RankReport

STEP_SECONDS = "step_seconds"
MEMORY_BYTES = "memory_bytes"
COMMUNICATION_SECONDS = "communication_seconds"
COMMUNICATION_SHARE = "communication_share"
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def metric(rank: RankReport, name: str) -> float | None:
    """The newest value of this name, NaN and infinite ones too; None: the rank does not tell it."""
    if name in rank.not_finite:
        return _NOT_FINITE.get(rank.not_finite[name])
    if name in rank.values:
        return rank.values[name]
    if name == MEMORY_BYTES:
        return None if rank.memory_bytes is None else float(rank.memory_bytes)
    if name == STEP_SECONDS:
        return rank.step_seconds
    return _communication(rank, name)


def by_rank(ranks: Iterable[RankReport], name: str) -> dict[int, float]:
    """The newest value of this name of each rank that tells it. Asked with every report."""
    found: dict[int, float] = {}
    for rank in ranks:
        value = rank.values.get(name) if not rank.not_finite else None
        if value is None:
            value = metric(rank, name)
        if value is not None:
            found[rank.rank] = value
    return found


def told(ranks: Iterable[RankReport]) -> Iterator[str]:
    """The names that ranks tell."""
    for rank in ranks:
        yield from rank.values
        yield from rank.not_finite
        yield from (name for name in (STEP_SECONDS, MEMORY_BYTES, COMMUNICATION_SECONDS, COMMUNICATION_SHARE)
                    if metric(rank, name) is not None)


def _communication(rank: RankReport, name: str) -> float | None:
    measured = rank.communication
    if measured is None:
        return None
    if name == COMMUNICATION_SECONDS:
        return measured.seconds_per_step
    return measured.share if name == COMMUNICATION_SHARE else None
