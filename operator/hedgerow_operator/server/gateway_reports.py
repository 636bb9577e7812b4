"""POST /v1/gateway-reports: how endpoints stand in one gateway; the answer carries what it may spend."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec
from aiohttp import web

from hedgerow_operator.core.endpoints.report import GatewayAnswer, GatewayReport
from hedgerow_operator.reconcile.ports import Leadership, Unreachable
from hedgerow_operator.server.auth import Denied

PATH = "/v1/gateway-reports"
_BEARER = "Bearer "


class Gateways(Protocol):
    """Where reports go."""

    async def receive(self, report: GatewayReport) -> GatewayAnswer:
        """Raises Unreachable."""


Check = Callable[[str | None, str], Awaitable[None]]


def gateway_reports(
    gateways: Gateways, check: Check, leadership: Leadership
) -> Callable[[web.Request], Awaitable[web.Response]]:
    """The handler. check: whether the token is that of the pod of this name; raises Denied, Unreachable."""

    async def handle(request: web.Request) -> web.Response:
        if not leadership.holds():
            return _refused(503, "this operator does not lead; ask again")
        header = request.headers.get("Authorization", "")
        token = header[len(_BEARER) :].strip() or None if header.startswith(_BEARER) else None
        try:
            report = msgspec.json.decode(await request.read(), type=GatewayReport)
            await check(token, report.gateway)
            answer = await gateways.receive(report)
        except msgspec.MsgspecError as error:
            return _refused(400, f"the report cannot be read: {error}")
        except Denied as denied:
            return _refused(403 if denied.identified else 401, str(denied))
        except Unreachable as error:
            return _refused(503, str(error))
        return web.Response(body=msgspec.json.encode(answer), content_type="application/json")

    return handle


def _refused(status: int, sentence: str) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
