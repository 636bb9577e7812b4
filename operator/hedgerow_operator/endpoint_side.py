"""What the operator process has for endpoints: what gateways say, and the passes that write it down."""

from __future__ import annotations

import asyncio
import time

import structlog
from aiohttp import web

from hedgerow_operator.adapters.kube.api import Api
from hedgerow_operator.adapters.kube.endpoints import KubeEndpoints
from hedgerow_operator.adapters.kube.gateway_books import GatewayPods, GatewayReviews, KubeBooks
from hedgerow_operator.adapters.kube.token_review import Reviews
from hedgerow_operator.reconcile.endpoints import EndpointReconciler
from hedgerow_operator.reconcile.gateways import GatewayHub
from hedgerow_operator.reconcile.ports import Leadership, Unreachable
from hedgerow_operator.server.gateway_reports import PATH, gateway_reports

# In steady state a status is written at most so often; a pass writes each one at most once.
PASS_SECONDS = 10.0

log = structlog.get_logger("hedgerow")


class EndpointSide:
    """namespaces: those that are watched; empty: all. url: what clients reach the gateways by. account: the service
    account that they run under (namespace/name).
    """

    def __init__(self, api: Api, leadership: Leadership, namespaces: tuple[str, ...], url: str, account: str) -> None:
        objects = KubeEndpoints(api, namespaces)
        pods = GatewayPods(api, account.partition("/")[0])
        self.hub = GatewayHub(KubeBooks(api, objects), pods, time.monotonic, time.time)
        self._leadership, self._account = leadership, account
        self._passes = EndpointReconciler(objects, self.hub, leadership, url, time.time)

    def serve(self, app: web.Application, reviews: Reviews) -> None:
        """Take the reports of gateways."""
        check = GatewayReviews(reviews, self._account).check
        app.router.add_post(PATH, gateway_reports(self.hub, check, self._leadership))

    async def run(self) -> None:
        """A pass now and then, until cancelled."""
        said = ""
        # The gateways have been telling another operator; until they tell this one, nothing is known.
        await asyncio.sleep(PASS_SECONDS)
        while True:
            try:
                await self._passes.reconcile()
                said = ""
            except Unreachable as error:
                if str(error) != said:
                    log.warning("endpoints cannot be looked at", error=str(error))
                said = str(error)
            await asyncio.sleep(PASS_SECONDS)
