"""What a provider is like, from how its attempts went."""

from collections import deque

from msgspec import Struct

from hedgerow_operator.core.hedging.overdue import Overdue
from hedgerow_operator.core.hedging.quantiles import Quantiles
from hedgerow_operator.core.hedging.seen import Pace

# So many values make a pace.
_ENOUGH = 5
# How much the newest attempt counts, the one before it, and so on.
_WEIGHTS = (0.4, 0.3, 0.2, 0.1)
# After so long what an attempt showed counts half: a provider that was sick is tried again.
_HALF_LIFE_SECONDS = 300.0
# Without requests for so long a provider takes its last worker away: longest idle timeouts are an hour, usual ones 5 to
# 60 s; in GPUHedge's traces 7 of 8 attempts after more than 300 s were cold, 11 of 46 others.
LONG_GAP_SECONDS = 300.0
_ENOUGH_GAPS = 3


class Attempted(Struct, frozen=True, kw_only=True):
    """How one attempt went. Times in seconds since its launch; None: it did not come to that, or nobody saw it.

    stopped_after: when it was given up. gap_seconds: how long there was no attempt at this provider before it.
    """

    started_after: float | None = None
    answered_after: float | None = None
    failed: bool = False
    stopped_after: float | None = None
    gap_seconds: float = 0.0


class Learning:
    """Of one provider and kind of request. Fixed size."""

    def __init__(self) -> None:
        self._starts, self._answers = Quantiles(), Quantiles()
        self._late: deque[bool] = deque(maxlen=len(_WEIGHTS))
        self._learned_at = 0.0
        self._after_gap: deque[bool] = deque(maxlen=len(_WEIGHTS))
        self._overdue = Overdue()

    def learn(self, attempted: Attempted, now: float) -> None:
        """Take in one attempt that is over for us. now: seconds of any clock that does not jump."""
        late = self._was_late(attempted)
        if late:
            self._overdue.learn(attempted.started_after, attempted.answered_after)
        if attempted.started_after is not None:
            self._starts.add(attempted.started_after)
        if attempted.answered_after is not None:
            self._answers.add(attempted.answered_after)
        if late is not None:
            self._late.appendleft(late)
            self._learned_at = now
            if attempted.gap_seconds > LONG_GAP_SECONDS:
                self._after_gap.appendleft(late)

    def pace(self, now: float, gap_seconds: float = 0.0) -> Pace:
        """What to expect of an attempt now. gap_seconds: since the last one at this provider."""
        starts, answers = self._starts.quick(), self._answers.quick()
        cold = gap_seconds > LONG_GAP_SECONDS and len(self._after_gap) >= _ENOUGH_GAPS and _share(self._after_gap) > 0.5
        return Pace(
            start_seconds=starts.upper if starts is not None and self._starts.count >= _ENOUGH else None,
            start_limit=starts.limit if starts is not None and self._starts.count >= _ENOUGH else None,
            answer_seconds=answers.upper if answers is not None and self._answers.count >= _ENOUGH else None,
            late=_share(self._late) * 0.5 ** (max(0.0, now - self._learned_at) / _HALF_LIFE_SECONDS),
            cold=cold,
            late_start_seconds=self._overdue.start_seconds,
            late_answer_seconds=self._overdue.answer_seconds,
        )

    def _was_late(self, attempted: Attempted) -> bool | None:
        """None: it was given up before anybody could tell."""
        if attempted.failed:
            return True
        starts = self._starts.quick()
        began = attempted.started_after if attempted.started_after is not None else attempted.stopped_after
        if attempted.started_after is None and attempted.answered_after is None:
            return True if starts is not None and began is not None and began > starts.limit else None
        return None if starts is None or began is None else began > starts.limit


def _share(late: deque[bool]) -> float:
    weights = _WEIGHTS[: len(late)]
    return sum(weight for weight, one in zip(weights, late, strict=True) if one) / sum(weights) if late else 0.0
