"""One launcher's report in the few numbers that the watches need; made once, when it arrives."""

import statistics
from collections.abc import Iterable

from msgspec import Struct

from hedgerow.logs import observation as names
from hedgerow.wire import PHASE_INIT, PHASE_STEP, RANK_EXITED, RankReport, Report


class Digest(Struct, frozen=True, kw_only=True):
    """step: the furthest. intervals: how many each rank that tells its pace has measured. step_seconds: median over the
    ranks. communication: least time in collectives a step over the ranks: even the last to arrive spends it. own:
    seconds a step that each rank computes by itself, by rank. load: batch size and sequence length where a rank tells
    them. memory: bytes by rank, empty before training.
    """

    step: int
    intervals: float
    step_seconds: float | None
    communication: float | None
    own: dict[int, float]
    load: tuple[float, ...]
    memory: dict[int, int]
    memory_limit: int | None


def digest(report: Report) -> Digest:
    """The digest of a report of the current attempt."""
    live = [rank for rank in report.ranks if rank.state != RANK_EXITED]
    paces = [rank.step_seconds for rank in live if rank.step_seconds is not None]
    measured = [rank.communication.seconds_per_step for rank in live if rank.communication is not None]
    step = max((rank.step or rank.beats for rank in live), default=0)
    return Digest(
        intervals=sum(report.durations.get(PHASE_STEP, {}).values()) / max(1, len(paces)) or float(step),
        step=step,
        step_seconds=statistics.median(paces) if paces else None,
        communication=min(measured) if measured else None,
        own=dict(_own_times(live, len(measured))),
        load=_load(live),
        memory={rank.rank: rank.memory_bytes for rank in live
                if rank.memory_bytes is not None and rank.phase != PHASE_INIT},
        memory_limit=report.memory_limit_bytes,
    )


def _own_times(live: list[RankReport], measured: int) -> Iterable[tuple[int, float]]:
    """Without a measure of communication the whole step is a rank's own: ranks that wait for each other look alike."""
    for rank in live:
        if rank.step_seconds is None or (measured and rank.communication is None):
            continue
        waits = rank.communication.seconds_per_step if rank.communication is not None else 0.0
        if rank.step_seconds > waits:
            yield rank.rank, rank.step_seconds - waits


def _load(live: list[RankReport]) -> tuple[float, ...]:
    for rank in live:
        values = rank.values
        told = (values.get(names.BATCH_SIZE, 0.0), values.get(names.SEQUENCE_LENGTH, 0.0)) if values else ()
        if any(told):
            return told
    return ()
