"""What the providers of one endpoint have shown, for each kind of request apart."""

from hedgerow_operator.core.hedging.learning import Attempted, Learning
from hedgerow_operator.core.hedging.seen import Pace

# A pace is made of sketches, which takes longer than a whole request may.
_KEPT_SECONDS = 0.1


class Learned:
    """Times are seconds of a clock that does not jump. Streams are a kind of their own: they answer sooner."""

    def __init__(self) -> None:
        self._learning: dict[tuple[str, bool], Learning] = {}
        self._paces: dict[tuple[str, bool], tuple[float, Pace]] = {}
        self._last: dict[str, float] = {}

    def pace(self, provider: str, stream: bool, now: float) -> Pace:
        """What to expect of an attempt now."""
        kind = (provider, stream)
        kept = self._paces.get(kind)
        if kept is not None and now - kept[0] < _KEPT_SECONDS:
            return kept[1]
        learning = self._learning.get(kind)
        pace = learning.pace(now, self._gap(provider, now)) if learning is not None else Pace()
        self._paces[kind] = (now, pace)
        return pace

    def launched(self, provider: str, now: float) -> float:
        """There is an attempt; seconds since the last one before it."""
        gap = self._gap(provider, now)
        self._last[provider] = now
        return gap

    def learn(self, provider: str, stream: bool, attempted: Attempted, now: float) -> None:
        """An attempt is over for us."""
        learning = self._learning.get((provider, stream))
        if learning is None:
            learning = self._learning[provider, stream] = Learning()
        learning.learn(attempted, now)

    def _gap(self, provider: str, now: float) -> float:
        return now - self._last.get(provider, now)
