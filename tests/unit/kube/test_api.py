"""What the API server answers, sorted into three kinds: an object, a no, and nothing learned."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import ApiClient, Configuration

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.reconcile.ports import Unreachable

OBJECT = {"kind": "Pod", "metadata": {"name": "a"}}


class Server:
    """Answers everything with one status and body; remembers what came."""

    def __init__(self) -> None:
        self.status = 200
        self.text = json.dumps(OBJECT)
        self.pages: list[dict[str, object]] = []
        self.requests: list[tuple[str, str, str]] = []

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.text()
        self.requests.append((request.method, str(request.rel_url), body))
        if self.pages:
            return web.json_response(self.pages.pop(0))
        return web.Response(status=self.status, text=self.text, content_type="application/json")

    def says(self, status: int, reason: str, message: str) -> None:
        self.status = status
        self.text = json.dumps({"kind": "Status", "reason": reason, "message": message})


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[ApiClient]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    async with TestServer(app) as running:
        client = ApiClient(Configuration(host=str(running.make_url("")).rstrip("/")))
        yield client
        await client.close()


async def test_an_object_comes_back_as_it_is(client: ApiClient) -> None:
    assert await Api(client).get("/api/v1/pods/a") == OBJECT


@pytest.mark.parametrize("status", [400, 403, 404, 409, 422])
async def test_a_no_is_a_no_with_the_servers_words(client: ApiClient, server: Server, status: int) -> None:
    server.says(status, "Whatever", "because of this")
    with pytest.raises(Rejected, match="because of this") as caught:
        await Api(client).get("/x")
    assert (caught.value.status, caught.value.reason) == (status, "Whatever")


@pytest.mark.parametrize("status", [401, 408, 429, 500, 502, 503, 504])
async def test_overload_outage_and_a_worn_out_token_teach_nothing(
    client: ApiClient, server: Server, status: int
) -> None:
    server.says(status, "Whatever", "not now")
    with pytest.raises(Unreachable, match="not now"):
        await Api(client).get("/x")


@pytest.mark.parametrize(("status", "text"), [(200, "<html>"), (404, "<html>not here</html>"), (200, "[]")])
async def test_something_between_that_is_no_api_server_teaches_nothing(
    client: ApiClient, server: Server, status: int, text: str
) -> None:
    server.status, server.text = status, text
    with pytest.raises(Unreachable):
        await Api(client).find("/x")


async def test_nobody_there_teaches_nothing() -> None:
    client = ApiClient(Configuration(host="http://127.0.0.1:9"))
    with pytest.raises(Unreachable, match=r"did not answer GET /x"):
        await Api(client).get("/x")
    await client.close()


async def test_silence_teaches_nothing() -> None:
    async def never(_: web.Request) -> web.Response:
        return await _forever()

    app = web.Application()
    app.router.add_get("/x", never)
    async with TestServer(app) as running:
        client = ApiClient(Configuration(host=str(running.make_url("")).rstrip("/")))
        with pytest.raises(Unreachable):
            await Api(client, timeout=aiohttp.ClientTimeout(total=0.05)).get("/x")
        await client.close()


async def _forever() -> web.Response:
    await asyncio.Event().wait()
    return web.Response()


async def test_a_list_is_followed_to_its_last_page(client: ApiClient, server: Server) -> None:
    server.pages = [{"items": [{"n": 1}], "metadata": {"continue": "more"}}, {"items": [{"n": 2}], "metadata": {}}]
    assert await Api(client).list("/x", "a=b") == [{"n": 1}, {"n": 2}]
    assert [url for _, url, _ in server.requests] == [
        "/x?labelSelector=a%3Db&limit=500",
        "/x?labelSelector=a%3Db&limit=500&continue=more",
    ]


async def test_who_may_not_write_sends_nothing(client: ApiClient, server: Server) -> None:
    api = Api(client, may_write=lambda: False)
    for write in (api.create("/x", {}), api.replace("/x", {}), api.merge("/x", {}), api.delete("/x", uid="u")):
        with pytest.raises(Unreachable, match="does not hold the lease"):
            await write
    assert await api.get("/x") == OBJECT
    assert [method for method, _, _ in server.requests] == ["GET"]


async def test_a_deletion_is_meant_for_one_object_only(client: ApiClient, server: Server) -> None:
    await Api(client).delete("/x", uid="u", grace_seconds=0, propagation="Foreground")
    ((_, _, body),) = server.requests
    assert json.loads(body) == {
        "preconditions": {"uid": "u"},
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Foreground",
    }


@pytest.mark.parametrize("status", [404, 409])
async def test_what_is_gone_already_need_not_be_deleted(client: ApiClient, server: Server, status: int) -> None:
    server.says(status, "Gone", "it is another one")
    await Api(client).delete("/x", uid="u")
