"""Tells the operator how endpoints stand, and asks it for leases of their budgets."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import aiohttp
import msgspec
from msgspec import Struct

from hedgerow_operator.core.endpoints.report import GatewayAnswer, GatewayReport
from hedgerow_operator.gateway.health_rounds import HealthRounds
from hedgerow_operator.gateway.service import Service

PATH = "/v1/gateway-reports"
_EVERY_SECONDS = 10.0
_TIMEOUT = aiohttp.ClientTimeout(total=10.0)
_log = logging.getLogger(__name__)


class OperatorLink(Struct, frozen=True, kw_only=True):
    """url: of its report server. token: file of the pod's projected token. gateway: name of the pod. leases: whether
    budgets are spread over several gateways.
    """

    url: str
    token: Path
    gateway: str
    leases: bool = False

    async def run(self, service: Service, health: HealthRounds) -> None:
        """For ever. An operator that is away is said once, and changes nothing: what was leased may be spent."""
        said = ""
        async with aiohttp.ClientSession(timeout=_TIMEOUT, trust_env=False) as session:
            while True:
                trouble = await self._tell(session, service, health)
                if trouble and trouble != said:
                    _log.warning("the operator does not hear how endpoints stand: %s", trouble)
                said = trouble
                await asyncio.sleep(_EVERY_SECONDS)

    async def _tell(self, session: aiohttp.ClientSession, service: Service, health: HealthRounds) -> str:
        """Once; what went wrong."""
        try:
            token = (await asyncio.to_thread(self.token.read_text)).strip()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            body = msgspec.json.encode(self._report(service, health))
            async with session.post(self.url + PATH, data=body, headers=headers) as response:
                said = await response.read()
                if response.status != 200:
                    return f"HTTP {response.status} {said[:200].decode(errors='replace')}"
            answer = msgspec.json.decode(said, type=GatewayAnswer)
        except (OSError, aiohttp.ClientError, TimeoutError, msgspec.MsgspecError) as error:
            return str(error) or type(error).__name__
        for endpoint, lease in answer.leases.items():
            service.books.lease(endpoint, lease)
        return ""

    def _report(self, service: Service, health: HealthRounds) -> GatewayReport:
        budgets = service.desk.budgets() if self.leases else ()
        return GatewayReport(
            gateway=self.gateway,
            endpoints={"/".join(place): shown for place, shown in service.shown().items()},
            providers={"/".join(place): found for place, found in health.newest.items()},
            asked={endpoint: service.books.asked(self.gateway, endpoint) for endpoint in budgets},
        )
