"""Long pauses that recur, every so many steps or minutes: their own kind of interval, learned apart from the steps."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

# Two gaps between three pauses show a rhythm; their lengths may differ by this share.
RHYTHM_TOLERANCE = 0.1
LENGTH_FACTOR = 2.0  # of the longest such pause
# As many pauses without a rhythm are a habit too: they may come at any time.
HABIT = 3
LEAST_PERIOD_STEPS = 10
_KEPT = 16


class Pause(Struct, frozen=True):
    """A pause in a phase: when it began (seconds by any one clock), after which step, how long it took (seconds)."""

    began: float
    step: int | None
    seconds: float


class Pauses(Struct, frozen=True):
    """The newest pauses of a job, oldest first."""

    seen: tuple[Pause, ...] = ()

    def add(self, pause: Pause) -> "Pauses":
        """With one more; the oldest is forgotten."""
        return Pauses((*self.seen, pause)[-_KEPT:])


def allowed(pauses: Pauses, began: float, step: int | None) -> float:
    """Seconds that an interval which begins at ``began`` after ``step`` may last as such a pause; 0.0: none is due."""
    seen = pauses.seen
    limit = LENGTH_FACTOR * max((pause.seconds for pause in seen), default=0.0)
    if len(seen) >= HABIT and not _rhythms(seen):
        return limit
    steps = [float(pause.step) for pause in seen if pause.step is not None]
    if len(steps) == 1 and steps[0] >= LEAST_PERIOD_STEPS:
        steps = [0.0, *steps]  # most scripts count from the start: every 500 steps is after 500, 1000, …
    by_step = step is not None and bool(steps) and _due(steps, float(step), least=1.0)
    by_time = _due([pause.began for pause in seen], began, least=1.0)
    return limit if by_step or by_time else 0.0


def _rhythms(seen: Sequence[Pause]) -> bool:
    steps = [float(pause.step) for pause in seen if pause.step is not None]
    return (len(steps) == len(seen) and _period(steps, 1.0) is not None) or (
        _period([pause.began for pause in seen], 1.0) is not None)


def _due(places: Sequence[float], here: float, least: float) -> bool:
    """Whether ``here`` lies a whole number of periods after the last of ``places``. Two pauses already set one."""
    if len(places) < 2:
        return False
    period = _period(places, least)
    if period is None:
        return False
    away = here - places[-1]
    turns = max(1, round(away / period))
    return abs(away - turns * period) <= max(least, RHYTHM_TOLERANCE * period)


def _period(places: Sequence[float], least: float) -> float | None:
    """The usual distance of ``places``, None when they do not keep one. One that was missed does not break it."""
    gaps = [after - before for before, after in pairwise(places)]
    if not gaps or min(gaps) <= 0:
        return None
    period = min(gaps)
    fits = all(abs(gap - max(1, round(gap / period)) * period) <= max(least, RHYTHM_TOLERANCE * period) for gap in gaps)
    return period if fits else None
