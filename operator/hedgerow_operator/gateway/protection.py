"""Which providers of an endpoint are left alone for a while, and which may be given more than a first attempt."""

from collections.abc import Callable, Iterable

from hedgerow_operator.core.hedging.breaker import Breakers, Circuit
from hedgerow_operator.core.hedging.retry_budget import RetryBudget


class EndpointProtection:
    """See Protection. clock: seconds, one that does not jump."""

    def __init__(self, providers: Iterable[str], clock: Callable[[], float]) -> None:
        names = tuple(providers)
        self._breakers, self._clock = Breakers(names), clock
        self._tokens = {name: RetryBudget() for name in names}

    def renew(self, providers: Iterable[str]) -> None:
        """Others from now on; what is known of those that stay is kept."""
        names = tuple(providers)
        self._breakers.renew(names)
        self._tokens = {name: self._tokens.get(name) or RetryBudget() for name in names}

    def is_open(self, provider: str) -> bool:
        """See Protection."""
        return self._breakers.allows(provider, self._clock())

    def launched(self, provider: str) -> None:
        """See Protection."""
        self._breakers.launched(provider, self._clock())

    def ended(self, provider: str, well: bool | None) -> None:
        """See Protection."""
        self._breakers.ended(provider, well, self._clock())
        if well is not None and provider in self._tokens:
            self._tokens[provider].ended(well)

    def allows_more(self, provider: str | None = None) -> bool:
        """See Protection."""
        if provider is None:
            return any(tokens.allows for tokens in self._tokens.values())
        return provider not in self._tokens or self._tokens[provider].allows

    def circuits(self) -> dict[str, Circuit]:
        """By provider."""
        return self._breakers.states(self._clock())
