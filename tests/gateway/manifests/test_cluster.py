"""Endpoints of a cluster are followed: what is applied is served, what the API server cannot say changes nothing."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from hedgerow_operator.adapters.kube.api import Api
from hedgerow_operator.core.endpoints.report import GatewayAnswer, GatewayReport
from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.gateway.cluster import ClusterSecrets, ClusterSource, follow_cluster
from hedgerow_operator.gateway.operator_link import PATH, OperatorLink
from hedgerow_operator.gateway.service import Options, Service
from hedgerow_operator.reconcile.ports import Unreachable
from tests.unit.kube.store import Store

OURS = "/apis/hedgerow.dev/v1alpha1/namespaces/ml"
ENDPOINT = f"{OURS}/inferenceendpoints/tts"


class Watched(Store):
    """A store whose changes can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.news = asyncio.Event()

    async def changes(self, path: str, seconds: int) -> AsyncIterator[None]:
        yield
        while True:
            await self.news.wait()
            self.news.clear()
            yield


def put(store: Store, budget: str | None = None) -> None:
    spec: dict[str, Any] = {"protocol": "Job", "providers": [{"name": "a", "providerRef": {"name": "p"}}]}
    if budget:
        spec["budget"] = {"hourlyUSD": budget}
    provider = {"type": "Simulated", "price": {"perSecondUSD": "0.1"}}
    store.put(ENDPOINT, {"metadata": {"name": "tts", "namespace": "ml", "generation": 1}, "spec": spec})
    store.put(f"{OURS}/serverlessproviders/p", {"metadata": {"name": "p", "namespace": "ml"}, "spec": provider})


async def until(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found := look():
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to that in time")


@contextlib.asynccontextmanager
async def following(store: Store, link: OperatorLink | None = None, *, share: bool = False) -> AsyncIterator[Service]:
    api = cast("Api", store)
    service = Service(Options(journal=None, secrets=ClusterSecrets(api), share=share))
    service.gateway.ready = False
    service.open()
    work = asyncio.ensure_future(follow_cluster(service, ClusterSource(api=api, namespaces=("ml",), link=link)))
    try:
        yield service
    finally:
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
        await service.stop(0.0)


async def test_what_is_applied_is_served_and_what_is_deleted_is_not() -> None:
    store = Watched()
    async with following(store) as service:
        await until(lambda: service.gateway.ready)
        assert service.gateway.find("ml", "tts") is None
        put(store)
        store.news.set()
        await until(lambda: service.gateway.find("ml", "tts"))
        del store.objects[ENDPOINT]
        store.news.set()
        await until(lambda: service.gateway.find("ml", "tts") is None)


async def test_while_the_api_server_is_away_what_is_served_stays(caplog: pytest.LogCaptureFixture) -> None:
    store = Watched()
    put(store)
    async with following(store) as service:
        await until(lambda: service.gateway.find("ml", "tts"))
        store.failing = Unreachable("away")
        store.news.set()
        await until(lambda: "what is served stays as it is: away" in caplog.text)
        assert service.gateway.find("ml", "tts") is not None


async def test_it_is_not_ready_before_it_knows_what_to_serve(caplog: pytest.LogCaptureFixture) -> None:
    store = Watched()
    store.failing = Unreachable("away")
    async with following(store) as service:
        await until(lambda: "what is served stays as it is: away" in caplog.text)
        assert not service.gateway.ready


async def test_the_operator_hears_how_endpoints_stand_and_its_lease_counts(tmp_path: Any) -> None:
    heard: list[tuple[str, GatewayReport]] = []

    async def operator(request: web.Request) -> web.Response:
        report = msgspec.json.decode(await request.read(), type=GatewayReport)
        heard.append((request.headers["Authorization"], report))
        answer = GatewayAnswer(leases={"ml/tts": Limits(2_000_000_000, None)})
        return web.Response(body=msgspec.json.encode(answer))

    (tmp_path / "token").write_text("projected\n")
    app = web.Application()
    app.router.add_post(PATH, operator)
    store = Watched()
    put(store, budget="10")
    async with TestServer(app) as server:
        link = OperatorLink(
            url=str(server.make_url("")).rstrip("/"), token=tmp_path / "token", gateway="gateway-0", leases=True
        )
        async with following(store, link, share=True) as service:
            await until(lambda: heard)
            ((authorization, report), *_) = heard
            assert (authorization, report.gateway) == ("Bearer projected", "gateway-0")
            assert report.endpoints["ml/tts"].served
            assert report.endpoints["ml/tts"].exhausted, "without a lease there is nothing to spend"
            assert report.asked["ml/tts"].lease == Limits(0, 0)
            await until(lambda: not service.shown()["ml", "tts"].exhausted)


async def test_an_operator_that_is_away_changes_nothing(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "token").write_text("projected\n")
    store = Watched()
    put(store)
    link = OperatorLink(url="http://127.0.0.1:9", token=tmp_path / "token", gateway="gateway-0")
    async with following(store, link) as service:
        await until(lambda: "the operator does not hear" in caplog.text)
        assert service.gateway.find("ml", "tts") is not None
    assert "projected" not in caplog.text
