"""One endpoint as its gateways show it, and what several of them show put together. Seconds, and US dollars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

OPEN = "Open"
HALF_OPEN = "HalfOpen"
CLOSED = "Closed"
_WELL = "won"
_BADLY = ("failed", "invalid")


class ProviderShown(Struct, frozen=True, kw_only=True):
    """attempts: since the gateway began, by how they went (won, invalid, failed, cancelled). left_out: why it could not
    be made; empty: it was. cost_usd: today; None: nobody counts it.
    """

    name: str
    left_out: str = ""
    circuit: str = CLOSED
    attempts: Mapping[str, int] = {}
    p50_seconds: float | None = None
    p95_seconds: float | None = None
    cost_usd: float | None = None

    @property
    def error_percent(self) -> int | None:
        """Of the attempts that were not given up; None: there were none."""
        bad = sum(self.attempts.get(went, 0) for went in _BADLY)
        judged = bad + self.attempts.get(_WELL, 0)
        return round(100 * bad / judged) if judged else None


class EndpointShown(Struct, frozen=True, kw_only=True):
    """generation: of the manifest. served: it is, as it is written there; else reason and sentence say why not.
    objective_seconds: by when the share of the answers has come that its objective names. hour_usd, day_usd: with what
    is held, which is held_usd; None: nobody counts. may_hedge: its budget allows it. exhausted: it allows nothing more.
    """

    generation: int = 0
    served: bool = True
    reason: str = ""
    sentence: str = ""
    requests: int = 0
    hedged: int = 0
    hedge_wins: int = 0
    p50_seconds: float | None = None
    p95_seconds: float | None = None
    objective_seconds: float | None = None
    providers: tuple[ProviderShown, ...] = ()
    leaked: int = 0
    hour_usd: float | None = None
    day_usd: float | None = None
    held_usd: float | None = None
    may_hedge: bool = True
    exhausted: bool = False


def merged(shown: Iterable[EndpointShown]) -> EndpointShown | None:
    """What all gateways show together; None: none shows it.

    Quantiles are those of the slowest gateway: the quantile of all answers is never above the largest of its parts.
    """
    several = tuple(shown)
    if len(several) < 2:
        return several[0] if several else None
    unserved = next((one for one in several if not one.served), several[0])
    return EndpointShown(
        generation=min(one.generation for one in several),
        served=unserved.served,
        reason=unserved.reason,
        sentence=unserved.sentence,
        requests=sum(one.requests for one in several),
        hedged=sum(one.hedged for one in several),
        hedge_wins=sum(one.hedge_wins for one in several),
        p50_seconds=_most(one.p50_seconds for one in several),
        p95_seconds=_most(one.p95_seconds for one in several),
        objective_seconds=_most(one.objective_seconds for one in several),
        providers=_providers(several),
        leaked=sum(one.leaked for one in several),
        hour_usd=_sum(one.hour_usd for one in several),
        day_usd=_sum(one.day_usd for one in several),
        held_usd=_sum(one.held_usd for one in several),
        may_hedge=any(one.may_hedge for one in several),
        exhausted=all(one.exhausted for one in several),
    )


def _providers(several: tuple[EndpointShown, ...]) -> tuple[ProviderShown, ...]:
    names = dict.fromkeys(provider.name for one in several for provider in one.providers)
    found = {name: [one for each in several for one in each.providers if one.name == name] for name in names}
    return tuple(_provider(name, parts) for name, parts in found.items())


def _provider(name: str, parts: list[ProviderShown]) -> ProviderShown:
    went = dict.fromkeys(key for part in parts for key in part.attempts)
    return ProviderShown(
        name=name,
        left_out=next((part.left_out for part in parts if part.left_out), ""),
        circuit=next((part.circuit for part in parts if part.circuit != CLOSED), CLOSED),
        attempts={key: sum(part.attempts.get(key, 0) for part in parts) for key in went},
        p50_seconds=_most(part.p50_seconds for part in parts),
        p95_seconds=_most(part.p95_seconds for part in parts),
        cost_usd=_sum(part.cost_usd for part in parts),
    )


def _most(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
