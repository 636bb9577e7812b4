"""How much an endpoint may spend in any hour and any day. The worst case of each attempt is held before it is made.

An amount that is held counts in full, in both windows, until it is known what the attempt has cost; so what is spent
in any hour is never above the limit, however many attempts there are at once.
"""

from enum import StrEnum

from msgspec import Struct

from hedgerow_operator.core.hedging.charges import Charge
from hedgerow_operator.core.hedging.spent import DAY, HOUR, Spent

# With StopHedging this much of each limit is kept for first attempts; more where they have held more at once, up to
# half of it: worst cases are far above what attempts cost in the end.
_KEPT_SHARE, _MOST_KEPT_SHARE = 0.2, 0.5


class OnExhausted(StrEnum):
    """STOP_HEDGING: what is left in the end is kept for first attempts. REJECT: all attempts are alike."""

    STOP_HEDGING = "StopHedging"
    REJECT = "Reject"


class Limits(Struct, frozen=True):
    """Nanodollars; None: no limit."""

    hourly: int | None = None
    daily: int | None = None

    def by_window(self) -> tuple[tuple[float, int], ...]:
        """Those that there are, with the length of their windows in seconds."""
        hourly = () if self.hourly is None else ((HOUR, self.hourly),)
        return hourly if self.daily is None else (*hourly, (DAY, self.daily))


NO_LIMITS = Limits()


class Hold(Struct, frozen=True):
    """The worst case of one attempt, in nanodollars. first: no other attempt of its request lives."""

    provider: str
    amount: int
    first: bool = True


class Budget:
    """Of one endpoint in one gateway. now: seconds of a clock that goes on over restarts and never goes back."""

    def __init__(self, limits: Limits = NO_LIMITS, on_exhausted: OnExhausted = OnExhausted.STOP_HEDGING) -> None:
        self.limits, self.on_exhausted = limits, on_exhausted
        self.spent: dict[str, Spent] = {}
        self.held: dict[str, int] = {}
        self._all, self._all_held = Spent(), 0
        self._first_held = self._most_first_held = 0

    def reserve(self, hold: Hold, now: float) -> bool:
        """Hold it, if there is enough left."""
        kept = 0 if hold.first or self.on_exhausted is OnExhausted.REJECT else None
        for seconds, limit in self.limits.by_window():
            keep = self._kept(limit) if kept is None else kept
            if self._used(seconds, now) + hold.amount + keep > limit:
                return False
        self.hold(hold)
        return True

    def hold(self, hold: Hold) -> None:
        """Hold it whatever is left: it was made by an earlier process, and may still run."""
        self._change(hold, hold.amount)
        self._most_first_held = max(self._most_first_held, self._first_held)

    def settle(self, hold: Hold, charge: Charge, now: float) -> None:
        """It has cost so much."""
        self._change(hold, -hold.amount)
        self.charge(hold.provider, charge, now)

    def charge(self, provider: str, charge: Charge, now: float) -> None:
        """So much was spent, held or not."""
        self._of(provider).add(charge.amount, now, measured=charge.measured)
        self._all.add(charge.amount, now, measured=charge.measured)

    def may_hedge(self, now: float) -> bool:
        """Whether more is left than what is kept for first attempts."""
        keep = self.on_exhausted is OnExhausted.STOP_HEDGING
        for seconds, limit in self.limits.by_window():
            if self._used(seconds, now) + (self._kept(limit) if keep else 0) >= limit:
                return False
        return True

    def left(self, now: float) -> int | None:
        """What may still be held; None: there is no limit."""
        return min((limit - self._used(seconds, now) for seconds, limit in self.limits.by_window()), default=None)

    def used(self, now: float) -> Limits:
        """Spent and held, by window."""
        return Limits(self._used(HOUR, now), self._used(DAY, now))

    def total(self, seconds: float, now: float, *, measured: bool | None = None) -> int:
        """What was spent in a window, without what is held."""
        return self._all.total(seconds, now, measured=measured)

    @property
    def holding(self) -> int:
        """For attempts of which it is not known what they cost."""
        return self._all_held

    def _used(self, seconds: float, now: float) -> int:
        return self._all.total(seconds, now) + self._all_held

    def _kept(self, limit: int) -> int:
        """What hedges leave alone."""
        more = self._most_first_held - self._first_held
        return min(int(limit * _MOST_KEPT_SHARE), max(more, int(limit * _KEPT_SHARE)))

    def _change(self, hold: Hold, amount: int) -> None:
        self._all_held += amount
        self.held[hold.provider] = self.held.get(hold.provider, 0) + amount
        if hold.first:
            self._first_held += amount

    def _of(self, provider: str) -> Spent:
        spent = self.spent.get(provider)
        if spent is None:
            spent = self.spent[provider] = Spent()
        return spent
