"""Goodput: productive time as a share of the time since the first start.

Unproductive is the time without progress (start-up, stalls, restarts) and the time of steps that were computed twice.
"""

from hedgerow_operator.api.status import Ledger, StepMillis, TrainingJobStatus
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core.gang import Gang

_MILLIS = 1000


def progress_seen(ledger: Ledger, gang: Gang, now: float) -> Ledger:
    """Ends the idle time once every rank of the attempt has made its first step."""
    if ledger.idle_since_millis is None or len(gang.ranks) < gang.expected:
        return ledger
    if not gang.sums.beating:
        return ledger
    first_step = round((now - _stepping_seconds(gang)) * _MILLIS)
    return Ledger(lost_millis=ledger.lost_millis + max(0, first_step - ledger.idle_since_millis))


def _stepping_seconds(gang: Gang) -> float:
    """About how long every rank has been stepping: the first report of it comes later than the first step."""
    return min(
        max(0, rank.report.beats - 1) * (rank.report.step_seconds or 0.0) + (rank.report.progress_age or 0.0) + rank.age
        for rank in gang.ranks
    )


def close_attempt(ledger: Ledger, gang: Gang, now: float) -> Ledger:
    """Starts the idle time at the last progress that any rank of the attempt made."""
    ledger = progress_seen(ledger, gang, now)
    if ledger.idle_since_millis is not None:
        return ledger
    ages = [(rank.report.progress_age or 0.0) + rank.age for rank in gang.ranks]
    return Ledger(lost_millis=ledger.lost_millis, idle_since_millis=round((now - min(ages, default=0.0)) * _MILLIS))


def lose_steps(ledger: Ledger, steps: int, pace: StepMillis | None) -> Ledger:
    """Adds the time of steps that have to be computed again."""
    again = steps * pace.median if pace else 0
    return Ledger(lost_millis=ledger.lost_millis + again, idle_since_millis=ledger.idle_since_millis)


def lost_seconds(status: TrainingJobStatus, now: float) -> float:
    """Unproductive seconds so far, those that are passing now included."""
    idle = status.ledger.idle_since_millis
    passing = max(0.0, now - idle / _MILLIS) if idle is not None and status.completion_time is None else 0.0
    return status.ledger.lost_millis / _MILLIS + passing


def goodput_percent(status: TrainingJobStatus, now: float) -> int | None:
    """Productive share of the time since the first start, 0 to 100; None before the first progress."""
    if status.start_time is None or (status.ledger.idle_since_millis is not None and not status.ledger.lost_millis):
        return None
    end = parse_time(status.completion_time) if status.completion_time else now
    wall = end - parse_time(status.start_time)
    if wall <= 0:
        return None
    return round(100 * min(1.0, max(0.0, 1 - lost_seconds(status, end) / wall)))
