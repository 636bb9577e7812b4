"""What becomes of a provider's late attempts that are let go on: whether it pays to wait for them."""

import math
from collections import deque

# So many of the newest are kept, and so many make a judgement.
_KEPT = 12
_ENOUGH = 3


class Overdue:
    """Of one provider and kind of request. Fixed size."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque(maxlen=_KEPT)

    def learn(self, started: float | None, answered: float | None) -> None:
        """One that was late: seconds since its launch; None: another one answered before, or it was not waited for."""
        self._seen.append((math.inf if started is None else started, math.inf if answered is None else answered))

    @property
    def start_seconds(self) -> float | None:
        """By when those have begun that did."""
        return self._at(1.0, [started for started, _answered in self._seen if started < math.inf])

    @property
    def answer_seconds(self) -> float | None:
        """By when half of them have answered."""
        return self._at(0.5, [answered for _started, answered in self._seen])

    def _at(self, share: float, values: list[float]) -> float | None:
        if len(values) < _ENOUGH:
            return None
        value = sorted(values)[round(share * (len(values) - 1))]
        return None if math.isinf(value) else value
