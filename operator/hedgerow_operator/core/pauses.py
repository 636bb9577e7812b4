"""Long pauses that recur, every so many steps or minutes: their own kind of interval, learned apart from the steps."""

from collections.abc import Sequence
from itertools import pairwise

from hedgerow_operator.core.durations import Histogram, count, upper_seconds
from hedgerow_operator.core.pause import Pause, Pauses

# Two gaps between three pauses show a rhythm; their lengths may differ by this share. Steps are counted, time drifts.
STEP_TOLERANCE = 0.02
TIME_TOLERANCE = 0.1
LENGTH_FACTOR = 2.0  # of the longest such pause; once there is a rhythm they are known better
KNOWN_LENGTH_FACTOR = 1.5
# As many pauses without a rhythm are a habit too: they may come at any time.
HABIT = 3
# Of three pauses at random every fifth set keeps a rhythm by time within its tolerance, of so many not one in a
# hundred: then only is anything shorter called too long.
SURE_BY_TIME = 5
LEAST_PERIOD_STEPS = 10
# Shorter by this share than the shortest pause is still a pause: lengths are told by buckets 19 % wide.
SHORTER_SHARE = 0.75
# What takes more of all intervals than this is no exception among them.
MOST_SHARE = 0.2


def allowed(pauses: Pauses, began: float, step: int | None, attempt: int = 0, started: float | None = None) -> float:
    """Seconds that an interval which begins at ``began`` after ``step`` may last as such a pause; 0.0: none is due.

    started: when this attempt began, from where time counts while it has not paused.
    """
    seen = pauses.seen
    longest = max((pause.seconds for pause in seen), default=0.0)
    if len(seen) >= HABIT and not _has_rhythm(seen, HABIT):
        return LENGTH_FACTOR * longest
    again = bool(seen) and seen[-1].attempt != attempt
    by_step = step is not None and _due(_steps(seen), _step_period(seen), float(step), STEP_TOLERANCE, again)
    by_time = _due(_times(seen, attempt, started), _time_period(seen), began, TIME_TOLERANCE, False)
    factor = KNOWN_LENGTH_FACTOR if len(seen) >= HABIT else LENGTH_FACTOR
    return factor * longest if by_step or by_time else 0.0


def apart(pauses: Pauses, lengths: Histogram) -> Histogram:
    """``lengths`` of steps without the pauses among them, once these have a rhythm and so can be told apart."""
    if len(pauses.seen) < HABIT or not _has_rhythm(pauses.seen, SURE_BY_TIME):
        return lengths
    shortest = SHORTER_SHARE * min(pause.seconds for pause in pauses.seen)
    usual = {bucket: amount for bucket, amount in lengths.items() if upper_seconds(bucket) < shortest}
    return usual if count(usual) >= (1.0 - MOST_SHARE) * count(lengths) else lengths


def _has_rhythm(seen: Sequence[Pause], least_by_time: int) -> bool:
    told = all(pause.step is not None for pause in seen)
    by_step = told and len(_distinct(seen)) >= HABIT and _step_period(seen) is not None
    return by_step or (len(seen) >= least_by_time and _time_period(seen) is not None)


def _distinct(seen: Sequence[Pause]) -> list[float]:
    """The steps of pauses, each place once, in order: an attempt that goes back pauses at the same ones again."""
    places: list[float] = []
    for step in sorted(float(pause.step) for pause in seen if pause.step is not None):
        if not places or step > places[-1] + 1.0:
            places.append(step)
    return places


def _steps(seen: Sequence[Pause]) -> list[float]:
    places = _distinct(seen)
    if len(places) == 1 and places[0] >= LEAST_PERIOD_STEPS:
        return [0.0, *places]  # most scripts count from the start: every 500 steps is after 500, 1000, …
    return places


def _step_period(seen: Sequence[Pause]) -> float | None:
    return _period([after - before for before, after in pairwise(_steps(seen))], STEP_TOLERANCE)


def _times(seen: Sequence[Pause], attempt: int, started: float | None) -> list[float]:
    places = [pause.began for pause in seen if pause.attempt == attempt]
    return places or ([] if started is None else [started])


def _time_period(seen: Sequence[Pause]) -> float | None:
    gaps = [after.began - before.began for before, after in pairwise(seen) if after.attempt == before.attempt]
    return _period(gaps, TIME_TOLERANCE)


def _due(places: Sequence[float], period: float | None, here: float, tolerance: float, again: bool) -> bool:
    """Whether ``here`` lies a whole number of periods away from the last of ``places``; again: or at that place."""
    if period is None or not places:
        return False
    away = here - places[-1]
    turns = round(away / period)
    return (turns != 0 or again) and abs(away - turns * period) <= max(1.0, tolerance * period)


def _period(gaps: Sequence[float], tolerance: float) -> float | None:
    """The usual one of ``gaps``, None when they do not keep one. A pause that was missed does not break it."""
    if not gaps or min(gaps) <= 0:
        return None
    period = min(gaps)
    fits = all(abs(gap - max(1, round(gap / period)) * period) <= max(1.0, tolerance * period) for gap in gaps)
    return period if fits else None
