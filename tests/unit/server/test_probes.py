"""/healthz, /readyz and /metrics."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from tests.unit.server.builders import Server


@pytest.fixture
async def server() -> Server:
    return Server()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[TestClient[Any, Any]]:
    async with TestClient(TestServer(server.app)) as client:
        yield client


async def test_an_idle_process_is_healthy_however_long_it_idles(server: Server, client: TestClient[Any, Any]) -> None:
    server.now = 1e6
    assert (await client.get("/healthz")).status == 200


async def test_a_pass_that_never_ends_makes_the_process_unhealthy(server: Server, client: TestClient[Any, Any]) -> None:
    never = asyncio.Event()
    stuck = asyncio.create_task(asyncio.wait_for(server.health.watching(never.wait)(), 30))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    server.now = 59.0
    assert (await client.get("/healthz")).status == 200
    server.now = 61.0
    response = await client.get("/healthz")
    assert response.status == 503
    assert "running for 61 s" in await response.text()
    never.set()
    await stuck
    assert (await client.get("/healthz")).status == 200


async def test_ready_once_the_jobs_are_known_and_also_as_a_standby(
    server: Server, client: TestClient[Any, Any]
) -> None:
    assert (await client.get("/readyz")).status == 503
    server.health.synced = True
    server.leader.leads = False
    assert (await client.get("/readyz")).status == 200


async def test_metrics_have_units_and_no_job_names(server: Server, client: TestClient[Any, Any]) -> None:
    server.metrics.reconciled("ok", 0.004)
    server.metrics.incident_opened("NoProgress")
    server.metrics.restarted("NoProgress")
    server.metrics.jobs_by_state({"Running": 3, "Stalled": 1})
    server.metrics.jobs_by_state({"Running": 2})
    response = await client.get("/metrics")
    lines = (await response.text()).splitlines()
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert 'hedgerow_reconciles_total{result="ok"} 1.0' in lines
    assert 'hedgerow_incidents_opened_total{kind="NoProgress"} 1.0' in lines
    assert 'hedgerow_restarts_total{cause="NoProgress"} 1.0' in lines
    assert "hedgerow_leader 1.0" in lines
    assert 'hedgerow_reconcile_duration_seconds_bucket{le="0.005"} 1.0' in lines
    assert [line for line in lines if line.startswith("hedgerow_jobs{")] == ['hedgerow_jobs{state="Running"} 2.0']
    names = {line.split("{")[0].split(" ")[0] for line in lines if not line.startswith("#")}
    assert all(name.startswith("hedgerow_") for name in names)


async def test_nodes_and_jobs_that_are_not_as_they_should_be_are_counted(
    server: Server, client: TestClient[Any, Any]
) -> None:
    server.metrics.degraded_jobs({"SlowerThanPeers": 2})
    server.metrics.count_nodes = lambda: {"Healthy": 7, "Quarantined": 1}
    lines = (await (await client.get("/metrics")).text()).splitlines()
    assert 'hedgerow_degraded_jobs{reason="SlowerThanPeers"} 2.0' in lines
    assert 'hedgerow_nodes{state="Quarantined"} 1.0' in lines
    server.metrics.degraded_jobs({})
    server.metrics.count_nodes = dict
    lines = (await (await client.get("/metrics")).text()).splitlines()
    assert not [line for line in lines if line.startswith(("hedgerow_degraded_jobs{", "hedgerow_nodes{"))]
