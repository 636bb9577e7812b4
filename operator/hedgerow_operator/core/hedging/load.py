"""How much more work hedging may make: a share of the requests, with some in hand for a burst."""

_BURST = 10.0


class LoadCap:
    """A token bucket: every request puts ``share`` tokens in, every attempt beyond a request's first takes one.

    burst: it holds so many at most; many requests that come at once may all be late together.
    """

    def __init__(self, share: float, burst: float = _BURST) -> None:
        self._share, self._burst = share, burst
        self._tokens = min(burst, _BURST)

    def request(self) -> None:
        """A request has come."""
        self._tokens = min(self._burst, self._tokens + self._share)

    def allows(self) -> bool:
        """Whether one more attempt may be made."""
        return self._tokens >= 1.0

    def take(self) -> None:
        """One attempt beyond the first was made."""
        self._tokens -= 1.0

    def give_back(self) -> None:
        """An attempt was given up while it still cost nothing: a switch is no more work."""
        self._tokens = min(self._burst, self._tokens + 1.0)
