"""POST /v1/gateway-reports: believed of a gateway about itself, and of nobody else."""

from __future__ import annotations

from typing import Any, cast

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from hedgerow_operator.adapters.kube.gateway_books import GatewayReviews
from hedgerow_operator.adapters.kube.token_review import Reviews, Sender
from hedgerow_operator.core.endpoints.report import GatewayAnswer, GatewayReport
from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.server.auth import Denied
from hedgerow_operator.server.gateway_reports import PATH, gateway_reports

ACCOUNT = "hedgerow-system/hedgerow-gateway"


class Known:
    """Reviews of two tokens."""

    async def sender(self, token: str | None) -> Sender:
        if token == "away":
            raise Unreachable("nobody could be asked")
        if token not in ("gateway", "agent"):
            raise Denied("the API server does not accept the token")
        account = ACCOUNT if token == "gateway" else "hedgerow-system/hedgerow-agent"
        return Sender(
            pod="gateway-0", namespace="hedgerow-system", account=account, node="n", job_uid="", placement="", worker=0
        )


class Hub:
    def __init__(self) -> None:
        self.heard: list[GatewayReport] = []

    async def receive(self, report: GatewayReport) -> GatewayAnswer:
        self.heard.append(report)
        return GatewayAnswer(leases={"default/tts": Limits(5, None)})


class Lease:
    def __init__(self, held: bool) -> None:
        self.held = held

    def holds(self) -> bool:
        return self.held


CASES: dict[str, tuple[str | None, Any, bool, int]] = {
    "a gateway about itself": ("gateway", {"gateway": "gateway-0"}, True, 200),
    "a gateway as another one": ("gateway", {"gateway": "gateway-1"}, True, 403),
    "another account": ("agent", {"gateway": "gateway-0"}, True, 403),
    "a stranger": ("wrong", {"gateway": "gateway-0"}, True, 401),
    "nobody": (None, {"gateway": "gateway-0"}, True, 401),
    "while nobody can be asked": ("away", {"gateway": "gateway-0"}, True, 503),
    "what is no report": ("gateway", {"gateway": 7}, True, 400),
    "an operator that does not lead": ("gateway", {"gateway": "gateway-0"}, False, 503),
}


@pytest.mark.parametrize(("token", "body", "leads", "status"), CASES.values(), ids=CASES.keys())
async def test_is_answered(token: str | None, body: Any, leads: bool, status: int) -> None:
    hub, app = Hub(), web.Application()
    check = GatewayReviews(cast("Reviews", Known()), ACCOUNT).check
    app.router.add_post(PATH, gateway_reports(hub, check, Lease(leads)))
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with TestClient(TestServer(app)) as client, client.post(PATH, json=body, headers=headers) as response:
        said = await response.read()
    assert response.status == status
    assert len(hub.heard) == (status == 200)
    if status == 200:
        assert msgspec.json.decode(said, type=GatewayAnswer).leases == {"default/tts": Limits(5, None)}
    else:
        assert (token or "no token") not in said.decode().split()
