"""One endpoint while it is served: its parts, and what is remembered from request to request."""

import asyncio

from hedgerow_operator.adapters.providers.contract import Provider
from hedgerow_operator.core.hedging.load import LoadCap
from hedgerow_operator.core.hedging.seen import ProviderSeen
from hedgerow_operator.gateway.affinity import Sessions
from hedgerow_operator.gateway.counts import Counts, EndpointStatistics
from hedgerow_operator.gateway.idempotency import Once
from hedgerow_operator.gateway.learned import Learned
from hedgerow_operator.gateway.ports import Parts
from hedgerow_operator.gateway.settings import EndpointSettings, ProviderUse
from hedgerow_operator.gateway.turns import Turns

_LEAST_BURST = 10.0


class Endpoint:
    """settings and parts are replaced when its manifest changes; the rest stays. Made on its loop."""

    def __init__(self, settings: EndpointSettings, parts: Parts) -> None:
        self.learned, self.counts, self.sessions = Learned(), Counts(), Sessions()
        self.once = Once(asyncio.get_running_loop().time)
        self.work: set[asyncio.Task[None]] = set()
        self.closed_until: dict[str, float] = {}
        self._waits: set[str] = set()
        self.renew(settings, parts)

    def renew(self, settings: EndpointSettings, parts: Parts) -> None:
        """From now on it is served so; requests that run go on as they began."""
        self.settings, self.parts = settings, parts
        self.load = LoadCap(settings.max_extra_load, max(_LEAST_BURST, settings.max_extra_load * settings.max_requests))
        self.providers: dict[str, Provider] = {provider.name: provider for provider in parts.providers}
        self.uses: dict[str, ProviderUse] = {use.name: use for use in settings.providers}
        self.whole_checks = tuple(parts.validators)
        self.stream_checks = tuple(one for one in parts.validators if not one.needs_body)
        self._turns = Turns(settings.providers)

    def order(self, session: str | None, now: float) -> tuple[str, ...]:
        """The providers for one request, the preferred one first."""
        names = self._turns.next()
        keeper = self.sessions.keeper(session, now) if session else None
        if keeper is None or keeper not in self.providers or names[0] == keeper:
            return names
        return (keeper, *(name for name in names if name != keeper))

    def seen(self, name: str, stream: bool, now: float, is_open: bool) -> ProviderSeen:
        """One provider as a policy sees it."""
        provider = self.providers[name]
        return ProviderSeen(
            name=name,
            pace=self.learned.pace(name, stream, now),
            shows_start=provider.shows_start,
            free_in_queue=provider.free_in_queue,
            open=is_open,
        )

    def is_open(self, name: str, now: float) -> bool:
        """Whether the provider may be given an attempt."""
        return self.closed_until.get(name, now) <= now and self.parts.protection.is_open(name)

    def leave_alone(self, name: str, until: float, *, waits: bool) -> None:
        """It has asked for it. waits: it will take requests then; else that is only when it is tried again."""
        if until > self.closed_until.get(name, 0.0):
            self.closed_until[name] = until
            (self._waits.add if waits else self._waits.discard)(name)

    def waits_until(self, name: str) -> float | None:
        """When it will take requests again, by its own word; None: it has not said."""
        return self.closed_until.get(name) if name in self._waits else None

    def start(self, work: asyncio.Task[None]) -> None:
        """Keep hold of it until it is done."""
        self.work.add(work)
        work.add_done_callback(self.work.discard)

    def statistics(self) -> EndpointStatistics:
        """Up to now."""
        counts, is_open, objective = self.counts, self.parts.protection.is_open, self.settings.objective
        return EndpointStatistics(
            namespace=self.settings.namespace,
            name=self.settings.name,
            requests=counts.requests,
            hedged=counts.hedged,
            hedge_wins=counts.hedge_wins,
            running=counts.running,
            answers=dict(counts.answers),
            p50_seconds=counts.latencies.at(0.5),
            p95_seconds=counts.latencies.at(0.95),
            objective_seconds=counts.latencies.at(objective) if objective is not None else None,
            providers=tuple(counts.of(name).seen(name, is_open(name)) for name in self.providers),
        )
