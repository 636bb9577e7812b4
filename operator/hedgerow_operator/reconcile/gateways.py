"""The newest report of each gateway, and what part of each budget each one may spend."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping
from typing import Protocol

import msgspec

from hedgerow_operator.api.inference_spec import Budget
from hedgerow_operator.api.money_text import usd
from hedgerow_operator.core.endpoints.provider_status import ProviderHealth
from hedgerow_operator.core.endpoints.report import GatewayAnswer, GatewayReport
from hedgerow_operator.core.endpoints.seen import EndpointShown, merged
from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.core.hedging.leases import Asked, Book, gone, grant
from hedgerow_operator.reconcile.ports import Unreachable

# A gateway reports every 10 s.
SILENT_SECONDS = 45.0
_NANOS = 1_000_000_000


class Books(Protocol):
    """Where the books of budgets are kept over restarts, as text, by NAMESPACE/NAME."""

    async def load(self, endpoint: str) -> tuple[str, Budget | None]:
        """The book, empty where there is none, and the budget as it is written now. Raises Unreachable."""

    async def keep(self, endpoint: str, book: str) -> None:
        """Raises Unreachable."""


class Pods(Protocol):
    """Where gateways run."""

    async def gone(self, gateway: str) -> bool:
        """Whether no pod of this name is there now, read anew. Raises Unreachable."""


class GatewayHub:
    """clock: monotonic seconds; now: since the epoch, which windows of budgets go by."""

    def __init__(self, books: Books, pods: Pods, clock: Callable[[], float], now: Callable[[], float]) -> None:
        self._books, self._pods, self._clock, self._now = books, pods, clock, now
        self._there: dict[str, float] = {}
        self._newest: dict[str, tuple[float, GatewayReport]] = {}
        self._remembered: dict[str, Book] = {}
        self._turn = asyncio.Lock()

    async def receive(self, report: GatewayReport) -> GatewayAnswer:
        """Take it in; what the gateway may spend from now on. A part that cannot be written down is not granted."""
        self._newest[report.gateway] = (self._clock(), report)
        leases = {endpoint: await self._lease(endpoint, asked) for endpoint, asked in report.asked.items()}
        return GatewayAnswer(leases={endpoint: lease for endpoint, lease in leases.items() if lease is not None})

    def shown(self, endpoint: str) -> EndpointShown | None:
        """What all gateways together show; None: none does."""
        reports = self._living().values()
        return merged(report.endpoints[endpoint] for report in reports if endpoint in report.endpoints)

    def health(self, provider: str) -> ProviderHealth | None:
        """Of a provider: bad where any gateway finds it so; None: none has asked."""
        found = [report.providers[provider] for report in self._living().values() if provider in report.providers]
        return next((one for one in found if one.ok is False), found[0] if found else None)

    def _living(self) -> Mapping[str, GatewayReport]:
        since = self._clock() - SILENT_SECONDS
        self._newest = {name: kept for name, kept in self._newest.items() if kept[0] >= since}
        return {name: report for name, (_at, report) in self._newest.items()}

    async def _lease(self, endpoint: str, asked: Asked) -> Limits | None:
        # Two that ask at once must not both be given what is free.
        async with self._turn:
            text, budget = await self._books.load(endpoint)
            if budget is None:
                return None
            kept = _book(text, _limits(budget))
            before = msgspec.structs.replace(self._remembered.get(endpoint, kept), whole=kept.whole)
            living = tuple(self._living())
            before = await self._without_gone(before, living)
            after, lease = grant(before, asked, living, self._now())
            if _parts_out(after) != _parts_out(kept):
                await self._books.keep(endpoint, msgspec.json.encode(after).decode())
            self._remembered[endpoint] = after
            return lease

    async def _without_gone(self, book: Book, living: Collection[str]) -> Book:
        """Those that have been silent and have no pod any more are gone; where that cannot be read, nothing is."""
        for name, part in book.parts.items():
            if name in living or part.gone_at is not None:
                continue
            with contextlib.suppress(Unreachable):
                if await self._is_gone(name):
                    book = gone(book, name, self._now())
        return book

    async def _is_gone(self, name: str) -> bool:
        """From a look at its pod; one that was there is not looked for again so soon."""
        now = self._clock()
        if self._there.get(name, -SILENT_SECONDS) > now - SILENT_SECONDS:
            return False
        if await self._pods.gone(name):
            return True
        self._there[name] = now
        return False


def _book(text: str, whole: Limits) -> Book:
    """As it was kept, for the budget as it is written now. Raises msgspec.MsgspecError for one that nobody wrote."""
    return msgspec.structs.replace(msgspec.json.decode(text, type=Book), whole=whole) if text else Book(whole=whole)


def _parts_out(book: Book) -> dict[str, tuple[Limits, float | None]]:
    """What must outlive this process; what was used is told anew."""
    return {name: (part.out, part.gone_at) for name, part in book.parts.items()}


def _limits(budget: Budget) -> Limits:
    hourly, daily = usd(budget.hourly_usd), usd(budget.daily_usd)
    return Limits(
        None if hourly is None else int(hourly * _NANOS),
        None if daily is None else int(daily * _NANOS),
    )
