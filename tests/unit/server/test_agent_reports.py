"""POST /v1/agent-reports: what is believed of a node's agent, what is refused, and with which sentence."""

import dataclasses
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from hedgerow import wire, wire_agent
from hedgerow_operator.reconcile.agents import AgentHub
from hedgerow_operator.server.app import make_app
from hedgerow_operator.server.auth import AgentClaim, Denied
from hedgerow_operator.server.intake import Agents
from tests.unit.server.builders import TOKEN, OneToken, Server

BEARER = {"Authorization": f"Bearer {TOKEN}"}


def report(**changes: Any) -> wire_agent.AgentReport:
    plain = wire_agent.AgentReport(
        node="node-a",
        boot="boot",
        agent="agent",
        seq=1,
        sent_monotonic=1.0,
        sent_wall=2.0,
        gpus=[wire_agent.GpuReport(index=0, values={"power_watts": 300.5})],
    )
    return dataclasses.replace(plain, **changes)


def encoded(**changes: Any) -> bytes:
    return wire_agent.encode_report(report(**changes))


class NodeAToken:
    """Believes one token, for one node."""

    async def check(self, token: str | None, claim: AgentClaim) -> None:
        self.recall(token or "", claim)

    def recall(self, token: str, claim: AgentClaim) -> bool:
        if token != TOKEN:
            raise Denied("the token is no agent's")
        if claim.node != "node-a":
            raise Denied("the agent runs on node node-a", identified=True)
        return True


@pytest.fixture
async def hub() -> AgentHub:
    return AgentHub(clock=lambda: 0.0)


@pytest.fixture
async def client(hub: AgentHub) -> AsyncIterator[TestClient[Any, Any]]:
    parts = Server()
    app = make_app(parts.hub, OneToken(), parts.leader, parts.metrics, parts.health, Agents(hub, NodeAToken()))
    async with TestClient(TestServer(app)) as client:
        yield client


async def test_a_believed_report_reaches_the_hub_and_the_agent_can_read_the_answer(
    hub: AgentHub, client: TestClient[Any, Any]
) -> None:
    response = await client.post(wire_agent.AGENT_REPORTS_PATH, data=encoded(), headers=BEARER)
    assert response.status == 200
    assert wire_agent.decode_answer(await response.read()).interval_seconds == wire_agent.CALM_SECONDS
    heard = hub.newest("node-a")
    assert heard is not None
    assert heard.report == report()


def gpu(**fields: Any) -> list[wire_agent.GpuReport]:
    return [wire_agent.GpuReport(index=0, **fields)]


REFUSED: dict[str, tuple[bytes, dict[str, str], int, str]] = {
    "no token": (encoded(), {}, 401, "Authorization: Bearer TOKEN"),
    "a wrong token": (encoded(), {"Authorization": "Bearer guess"}, 401, "no agent's"),
    "another node": (encoded(node="node-b"), BEARER, 403, "runs on node node-a"),
    "no node": (encoded(node=""), BEARER, 400, "has 1 to 253 characters"),
    "a version of the future": (b'{"version": 9, "gpus": 1}', BEARER, 400, "has version 9"),
    "no JSON": (b"hot", BEARER, 400, "is not valid JSON"),
    "a text where a number belongs": (
        json.dumps({**json.loads(encoded()), "gpus": [{"index": "first"}]}).encode(),
        BEARER,
        400,
        "$.gpus[0].index",
    ),
    "a GPU twice": (encoded(gpus=gpu() + gpu()), BEARER, 400, "names a GPU twice"),
    "a hundred GPUs": (
        encoded(gpus=[wire_agent.GpuReport(index=index) for index in range(100)]),
        BEARER,
        400,
        "names 100 GPUs",
    ),
    "a number beyond all bounds": (encoded(gpus=gpu(values={"power_watts": 1e300})), BEARER, 400, "64 bits"),
    "a launcher's report": (
        b'{"version": 1, "job": {"uid": "uid-1", "namespace": "d", "name": "r"}}',
        BEARER,
        400,
        "missing required",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_refused_with_one_sentence(case: str, hub: AgentHub, client: TestClient[Any, Any]) -> None:
    body, headers, status, sentence = REFUSED[case]
    response = await client.post(wire_agent.AGENT_REPORTS_PATH, data=body, headers=headers)
    text = (await response.json())["error"]
    assert (response.status, sentence in text) == (status, True), text
    assert "\n" not in text
    assert TOKEN not in text
    assert list(hub.nodes()) == []


async def test_where_no_agents_are_expected_they_are_told_so() -> None:
    async with TestClient(TestServer(Server().app)) as client:
        response = await client.post(wire_agent.AGENT_REPORTS_PATH, data=encoded(), headers=BEARER)
        assert response.status == 404
        assert "no reports of node agents" in (await response.json())["error"]


async def test_who_reports_without_end_is_asked_to_wait_and_others_are_not(client: TestClient[Any, Any]) -> None:
    statuses = [
        (await client.post(wire_agent.AGENT_REPORTS_PATH, data=encoded(seq=seq), headers=BEARER)) for seq in range(60)
    ]
    busy = [response for response in statuses if response.status == 429]
    assert busy
    assert int(busy[0].headers["Retry-After"]) >= 1
    launcher = await client.post(wire.REPORTS_PATH, data=b"{}", headers=BEARER)
    assert launcher.status == 400
