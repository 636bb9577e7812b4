"""What an endpoint has done since its gateway began: counted as it happens, read by /metrics and by the status."""

from enum import StrEnum

from msgspec import Struct

from hedgerow_operator.core.hedging.quantiles import Quantiles


class Went(StrEnum):
    """How one attempt went; every attempt is counted once under one of them."""

    WON = "won"
    INVALID = "invalid"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ProviderStatistics(Struct, frozen=True, kw_only=True):
    """attempts: by how they went. p50_seconds, p95_seconds: of valid answers lately; None: there were none."""

    name: str
    open: bool
    attempts: dict[str, int]
    p50_seconds: float | None
    p95_seconds: float | None


class EndpointStatistics(Struct, frozen=True, kw_only=True):
    """hedged: requests with more than one attempt at a time. hedge_wins: won by another attempt than the first.
    answers: by HTTP status. running: requests right now. objective_seconds: by when the share of them has come that the
    endpoint's objective names; None: it has none.
    """

    namespace: str
    name: str
    requests: int
    hedged: int
    hedge_wins: int
    running: int
    answers: dict[int, int]
    p50_seconds: float | None
    p95_seconds: float | None
    objective_seconds: float | None
    providers: tuple[ProviderStatistics, ...]


class ProviderCounts:
    """Of one provider."""

    def __init__(self) -> None:
        self.attempts = dict.fromkeys(Went, 0)
        self.latencies = Quantiles()

    def seen(self, name: str, is_open: bool) -> ProviderStatistics:
        """As it is now."""
        return ProviderStatistics(
            name=name,
            open=is_open,
            attempts={str(went): count for went, count in self.attempts.items()},
            p50_seconds=self.latencies.at(0.5),
            p95_seconds=self.latencies.at(0.95),
        )


class Counts:
    """Of one endpoint."""

    def __init__(self) -> None:
        self.requests = self.hedged = self.hedge_wins = self.running = 0
        self.answers: dict[int, int] = {}
        self.latencies = Quantiles()
        self.providers: dict[str, ProviderCounts] = {}

    def of(self, provider: str) -> ProviderCounts:
        """The provider's own."""
        counts = self.providers.get(provider)
        if counts is None:
            counts = self.providers[provider] = ProviderCounts()
        return counts

    def answered(self, status: int) -> None:
        """A client has been given an answer."""
        self.answers[status] = self.answers.get(status, 0) + 1
