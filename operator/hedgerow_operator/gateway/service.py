"""One gateway, whole: what it serves, its books, its checks and its sockets."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.api.serverless_provider import ServerlessProvider
from hedgerow_operator.core.endpoints.seen import CLOSED, EndpointShown, ProviderShown
from hedgerow_operator.gateway.books import Books
from hedgerow_operator.gateway.checks import Checks
from hedgerow_operator.gateway.counts import EndpointStatistics
from hedgerow_operator.gateway.desk import Desk, Place, Standing
from hedgerow_operator.gateway.gateway import Gateway
from hedgerow_operator.gateway.peers import Replica
from hedgerow_operator.gateway.secret_files import SecretSource
from hedgerow_operator.gateway.server import Listening


class Options(Struct, frozen=True, kw_only=True):
    """journal: see Books; share: as there. allowed_networks: CIDRs that may be asked although they are this machine or
    its neighbours. own: which of several gateways this is.
    """

    journal: Path | None
    secrets: SecretSource
    own: Replica | None = None
    allowed_networks: tuple[str, ...] = ()
    share: bool = False


class Service:
    """Made and used on its loop."""

    def __init__(self, options: Options) -> None:
        self.gateway = Gateway(options.own, options.allowed_networks)
        self.books = Books(options.journal, share=options.share)
        self._checks = Checks(options.allowed_networks)
        self.desk = Desk(self.gateway, options.secrets, self.books, self._checks.validator_of, options.allowed_networks)
        self._listening = Listening(self.gateway)

    def open(self) -> str:
        """See Books.open."""
        return self.books.open()

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        """Take connections."""
        await self._listening.start(sockets)

    async def apply(self, endpoints: Iterable[InferenceEndpoint], providers: Iterable[ServerlessProvider]) -> None:
        """Serve exactly these from now on."""
        await self.desk.apply(endpoints, providers)

    def shown(self) -> dict[Place, EndpointShown]:
        """How each endpoint stands here."""
        statistics = {(one.namespace, one.name): one for one in self.gateway.statistics()}
        return {
            place: self._shown(place, standing, statistics.get(place))
            for place, standing in self.desk.standings.items()
        }

    async def stop(self, grace_seconds: float) -> None:
        """Requests that run get so long; losers as long again to be confirmed."""
        await self._listening.stop(grace_seconds)
        await self.books.drain(grace_seconds)
        with contextlib.suppress(OSError):
            await self.desk.close()
        await self._checks.close()
        await self.books.close()

    def _shown(self, place: Place, standing: Standing, statistics: EndpointStatistics | None) -> EndpointShown:
        left_out = tuple(ProviderShown(name=name, left_out=why) for name, why in standing.left_out.items())
        if statistics is None:
            return EndpointShown(
                generation=standing.generation,
                served=standing.served,
                reason=standing.reason,
                sentence=standing.sentence,
                providers=left_out,
            )
        spending, circuits = self.books.spending("/".join(place)), self.books.circuits("/".join(place))
        providers = tuple(
            ProviderShown(
                name=one.name,
                circuit=str(circuits.get(one.name, CLOSED)),
                attempts=one.attempts,
                p50_seconds=one.p50_seconds,
                p95_seconds=one.p95_seconds,
                cost_usd=spending.providers.get(one.name, 0.0),
            )
            for one in statistics.providers
        )
        return EndpointShown(
            generation=standing.generation,
            served=standing.served,
            reason=standing.reason,
            sentence=standing.sentence,
            requests=statistics.requests,
            hedged=statistics.hedged,
            hedge_wins=statistics.hedge_wins,
            p50_seconds=statistics.p50_seconds,
            p95_seconds=statistics.p95_seconds,
            objective_seconds=statistics.objective_seconds,
            providers=(*providers, *left_out),
            leaked=spending.leaked,
            hour_usd=spending.hour + spending.held,
            day_usd=spending.day + spending.held,
            held_usd=spending.held,
            may_hedge=spending.may_hedge,
            exhausted=spending.exhausted,
        )
