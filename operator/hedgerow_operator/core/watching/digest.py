"""One launcher's report in the few numbers that the watches need; made once, when it arrives."""

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
    """The digest of a report of the current attempt. Made with every report: each rank is looked at once."""
    step = 0
    paces: list[float] = []
    measured: list[float] = []
    memory: dict[int, int] = {}
    live = [rank for rank in report.ranks if rank.state != RANK_EXITED]
    for rank in live:
        step = max(step, rank.step or rank.beats)
        if rank.step_seconds is not None:
            paces.append(rank.step_seconds)
        if rank.communication is not None:
            measured.append(rank.communication.seconds_per_step)
        if rank.memory_bytes is not None and rank.phase != PHASE_INIT:
            memory[rank.rank] = rank.memory_bytes
    steps = report.durations.get(PHASE_STEP)
    return Digest(
        intervals=(sum(steps.values()) if steps else 0) / max(1, len(paces)) or float(step),
        step=step,
        step_seconds=_median(paces) if paces else None,
        communication=min(measured) if measured else None,
        own=_own_times(live, bool(measured)),
        load=_load(live),
        memory=memory,
        memory_limit=report.memory_limit_bytes,
    )


def _median(numbers: list[float]) -> float:
    """As statistics.median, of what is there and in a third of the time."""
    numbers.sort()
    middle = len(numbers) // 2
    return numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


def _own_times(live: list[RankReport], measured: bool) -> dict[int, float]:
    """Without a measure of communication the whole step is a rank's own: ranks that wait for each other look alike."""
    own: dict[int, float] = {}
    for rank in live:
        seconds, communication = rank.step_seconds, rank.communication
        if seconds is None or (measured and communication is None):
            continue
        waits = communication.seconds_per_step if communication is not None else 0.0
        if seconds > waits:
            own[rank.rank] = seconds - waits
    return own


def _load(live: list[RankReport]) -> tuple[float, ...]:
    for rank in live:
        values = rank.values
        if names.BATCH_SIZE in values or names.SEQUENCE_LENGTH in values:
            told = (values.get(names.BATCH_SIZE, 0.0), values.get(names.SEQUENCE_LENGTH, 0.0))
            if any(told):
                return told
    return ()
