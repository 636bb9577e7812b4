"""How much any one sender may ask for: so many reports a second, whatever the others do."""

from collections.abc import Callable, Hashable

# A launcher with news reports at most every 0.2 s (hedgerow.reporter.SPACING_SECONDS): more is a fault of its own.
REPORTS_PER_SECOND = 10.0
BURST = 20.0
_SWEEP_SECONDS = 30.0


class SenderLimits:
    """A bucket of ``burst`` reports a sender, filled at ``rate`` a second. clock: monotonic seconds.

    Only senders with a bucket that is not full are remembered.
    """

    def __init__(self, clock: Callable[[], float], rate: float = REPORTS_PER_SECOND, burst: float = BURST) -> None:
        self._clock = clock
        self._gap = 1.0 / rate
        self._slack = (burst - 1.0) / rate
        # When the bucket would be full again.
        self._full_at: dict[Hashable, float] = {}
        self._swept = clock()

    def wait_seconds(self, sender: Hashable) -> float:
        """0.0 where a report of this sender may come now, and is counted; else in how many seconds it may."""
        now = self._clock()
        if now - self._swept >= _SWEEP_SECONDS:
            self._swept = now
            self._full_at = {key: at for key, at in self._full_at.items() if at > now}
        full_at = max(now, self._full_at.get(sender, now))
        if full_at - now > self._slack:
            return full_at - now - self._slack
        self._full_at[sender] = full_at + self._gap
        return 0.0

    def __len__(self) -> int:
        return len(self._full_at)
