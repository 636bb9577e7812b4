"""How many attempts beyond the first a failing provider is given: gRPC's throttling of retries (proposal A6).

Each failure takes a token, each success gives a part of one back; there are more attempts only while more than half of
the tokens are left. Kept for each provider, as gRPC keeps it for each server: one that fails forbids none to another.
"""

from msgspec import Struct

# As in the example of the proposal.
_RATIO = 0.1
_MOST = 10.0


class RetryBudget(Struct):
    """most: tokens, at least 2. ratio: what a success gives back."""

    most: float = _MOST
    ratio: float = _RATIO
    _spent: float = 0.0

    @property
    def allows(self) -> bool:
        """Whether it may be given an attempt beyond a request's first."""
        return self.most - self._spent > self.most / 2

    def ended(self, well: bool) -> None:
        """An attempt has ended."""
        self._spent = min(self.most, max(0.0, self._spent + (-self.ratio if well else 1.0)))
