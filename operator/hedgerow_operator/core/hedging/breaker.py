"""Leaves a failing provider alone, tries it again, and never leaves alone too many at once.

A provider is out after three failures in a row, or when half of its newest attempts have failed. It is tried again by
one attempt at a time: after 5 s, and twice as long after each one that fails, up to a minute.
"""

from collections import deque
from collections.abc import Iterable
from enum import StrEnum

_IN_A_ROW = 3
_NEWEST, _ENOUGH, _FAILED_SHARE = 10, 6, 0.5
# What an attempt has shown is forgotten after a minute: a quiet endpoint's failures of yesterday say nothing.
_REMEMBERED_SECONDS = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 60.0
# A probe of which nobody has said how it ended; then there may be another.
_PROBE_SECONDS = 120.0


class Circuit(StrEnum):
    """CLOSED: it is used. OPEN: it is left alone. HALF_OPEN: it is tried again by one attempt at a time."""

    CLOSED = "Closed"
    OPEN = "Open"
    HALF_OPEN = "HalfOpen"


class Breaker:
    """Of one provider. Times are seconds of a clock that does not jump."""

    def __init__(self) -> None:
        self._newest: deque[tuple[float, bool]] = deque(maxlen=_NEWEST)
        self._in_a_row = 0
        self._pause = _FIRST_PAUSE
        self._until: float | None = None
        self._probe_since: float | None = None

    def state(self, now: float) -> Circuit:
        """As it stands."""
        if self._until is None:
            return Circuit.CLOSED
        return Circuit.OPEN if now < self._until else Circuit.HALF_OPEN

    def allows(self, now: float) -> bool:
        """Whether it may be given an attempt."""
        state = self.state(now)
        return state is Circuit.CLOSED or (state is Circuit.HALF_OPEN and not self._is_probing(now))

    def launched(self, now: float) -> None:
        """It is given an attempt."""
        if self.state(now) is Circuit.HALF_OPEN and not self._is_probing(now):
            self._probe_since = now

    def ended(self, well: bool | None, now: float) -> bool:
        """Whether it fails so that it is to be left alone. well: None: nothing follows from how the attempt ended."""
        probed, self._probe_since = self._probe_since is not None, None
        if well is None:
            return False
        if well and self._until is not None and now >= self._until:
            self.close()
        self._in_a_row = 0 if well else self._in_a_row + 1
        self._newest.append((now, well))
        if self._until is not None:
            return not well and probed
        return not well and self._fails(now)

    def open(self, now: float) -> None:
        """Leave it alone."""
        self._pause = _FIRST_PAUSE if self._until is None else min(_LONGEST_PAUSE, self._pause * 2)
        self._until = now + self._pause
        self._probe_since = None

    def close(self) -> None:
        """Use it as before."""
        self._until, self._in_a_row = None, 0
        self._newest.clear()

    def _fails(self, now: float) -> bool:
        lately = [well for at, well in self._newest if now - at <= _REMEMBERED_SECONDS]
        failed = lately.count(False)
        in_a_row = min(self._in_a_row, failed) >= _IN_A_ROW
        return in_a_row or (len(lately) >= _ENOUGH and failed >= len(lately) * _FAILED_SHARE)

    def _is_probing(self, now: float) -> bool:
        return self._probe_since is not None and now - self._probe_since < _PROBE_SECONDS


class Breakers:
    """Of all providers of an endpoint. most_out: the share of them that may be left alone at once."""

    def __init__(self, providers: Iterable[str], most_out: float = 0.5) -> None:
        self._breakers = {name: Breaker() for name in providers}
        self._most_out = most_out

    def renew(self, providers: Iterable[str]) -> None:
        """Others from now on; what is known of those that stay is kept."""
        self._breakers = {name: self._breakers.get(name) or Breaker() for name in providers}

    def allows(self, provider: str, now: float) -> bool:
        """Whether it may be given an attempt."""
        breaker = self._breakers.get(provider)
        return breaker is None or breaker.allows(now)

    def launched(self, provider: str, now: float) -> None:
        """It is given an attempt."""
        if provider in self._breakers:
            self._breakers[provider].launched(now)

    def ended(self, provider: str, well: bool | None, now: float) -> None:
        """One of its attempts has ended."""
        breaker = self._breakers.get(provider)
        if breaker is not None and breaker.ended(well, now) and self._may_be_out(breaker, now):
            breaker.open(now)

    def states(self, now: float) -> dict[str, Circuit]:
        """By provider."""
        return {name: breaker.state(now) for name, breaker in self._breakers.items()}

    def _may_be_out(self, breaker: Breaker, now: float) -> bool:
        out = [other for other in self._breakers.values() if other.state(now) is not Circuit.CLOSED]
        others = len(out) - (breaker in out)
        return others + 1 <= len(self._breakers) * self._most_out
