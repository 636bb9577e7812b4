"""Who may ask, how much, how slowly; and what a mistake is answered."""
# ruff: noqa: SIM117

import asyncio
import contextlib

import pytest

from hedgerow_operator.core.hedging.fixed import NoHedge
from hedgerow_operator.gateway import incoming, server
from hedgerow_operator.gateway.settings import ApiKeys, Speaks
from tests.gateway.data_path.gateways import client, get, post, serving, until
from tests.gateway.data_path.scripted import Scripted, answers, hangs, refuses

KEYS = ApiKeys({"alice": b"sk-alice", "bob": b"sk-bob\n"})


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer sk-alice"}, 200),
        ({"Authorization": "bearer sk-bob"}, 200),
        ({"Authorization": "sk-bob"}, 200),
        ({"X-API-Key": "sk-alice"}, 200),
        ({"Authorization": "Bearer sk-alic"}, 401),
        ({"Authorization": "Bearer "}, 401),
        ({}, 401),
    ],
)
async def test_only_who_has_a_key_of_the_secret_may_ask(headers: dict[str, str], status: int) -> None:
    a = Scripted("a", answers())
    async with serving(a, keys=KEYS, speaks=Speaks.OPENAI) as served:
        got = await post(served.url, {}, headers=headers)
        assert got.status == status
        assert status == 200 or got.json()["error"]["type"] == "authentication_error"
    assert len(a.calls) == (status == 200)


async def test_no_credential_of_the_client_reaches_a_provider() -> None:
    a = Scripted("a", answers())
    async with serving(a, keys=KEYS) as served:
        await post(served.url, {}, headers={"Authorization": "sk-bob", "Cookie": "c=1", "X-Thing": "passes"})
    sent = {name.lower(): value for name, value in a.calls[0].headers.items()}
    assert sent["x-thing"] == "passes"
    assert not {"authorization", "cookie", "x-api-key"} & set(sent)
    assert "sk-bob" not in repr(KEYS)


async def test_what_is_asked_reaches_the_provider_as_it_was() -> None:
    a = Scripted("a", answers(b"made", status=201))
    async with serving(a) as served:
        got = await post(f"{served.url}/v1/things?page=2&q=a%20b", {"x": 1}, method="PUT")
    assert (got.status, got.text) == (201, "made")
    call = a.calls[0]
    assert (call.method, call.path, call.body) == ("PUT", "v1/things?page=2&q=a%20b", b'{"x": 1}')


@pytest.mark.parametrize("speaks", list(Speaks))
async def test_a_failure_is_told_in_the_shape_of_the_protocol(speaks: Speaks) -> None:
    async with serving(Scripted("a", refuses("it is down")), speaks=speaks, policy=NoHedge()) as served:
        got = await post(f"{served.url}/runsync", {"input": {}})
    told = got.json()["error"]
    if speaks is Speaks.JOB:
        assert (got.status, got.json()["status"]) == (200, "FAILED")
    else:
        assert got.status == 502
    assert "it is down" in (told["message"] if speaks is Speaks.OPENAI else told)


@pytest.mark.parametrize("path", ["/", "/team", "/team/other/x", "/%2e%2e/model", "/team/model2"])
async def test_what_is_not_served_is_not_found(path: str) -> None:
    async with serving(Scripted("a", answers())) as served:
        got = await get(served.root + path)
    assert got.status == 404
    assert "/NAMESPACE/ENDPOINT" in got.json()["error"]["message"]


@pytest.mark.parametrize("millis", ["-1", "0", "soon", "nan", "inf"])
async def test_a_deadline_that_is_none_is_refused(millis: str) -> None:
    async with serving(Scripted("a", answers())) as served:
        got = await post(served.url, {}, headers={"X-Hedgerow-Deadline-Millis": millis})
    assert got.status == 400
    assert "X-Hedgerow-Deadline-Millis" in got.text


async def test_a_deadline_is_kept_and_told_to_the_provider() -> None:
    a = Scripted("a", hangs())
    async with serving(a, policy=NoHedge()) as served:
        got = await post(served.url, {}, headers={"X-Hedgerow-Deadline-Millis": "200"})
        assert got.status == 504
        await until(lambda: a.cancelled == ["a-1"])
    assert a.calls[0].deadline is not None
    assert 0 < a.calls[0].deadline <= 0.2


async def test_beyond_the_most_requests_at_once_a_client_is_told_to_come_back() -> None:
    async with serving(Scripted("a", hangs()), max_requests=2, policy=NoHedge()) as served, client() as http:
        asking = [asyncio.ensure_future(http.post(served.url, json={})) for _ in range(2)]
        await until(lambda: served.endpoint.counts.running == 2)
        got = await post(served.url, {})
        for one in asking:
            one.cancel()
    assert (got.status, got.headers["Retry-After"]) == (503, "1")


async def test_a_body_beyond_the_most_goes_to_one_provider_as_it_comes() -> None:
    body = bytes(range(256)) * 1024
    a, b = Scripted("a", hangs()), Scripted("b", answers())
    async with serving(a, b, max_body_bytes=1024, deadline_seconds=0.5) as served, client() as http:
        async with http.post(served.url, data=body) as answer:
            assert answer.status == 504
    assert a.uploaded == [body]
    assert b.calls == []


async def test_a_body_in_chunks_is_put_together() -> None:
    async def chunks():  # type: ignore[no-untyped-def]
        for number in range(10):
            yield b"%d" % number

    a = Scripted("a", answers())
    async with serving(a) as served, client() as http, http.post(served.url, data=chunks()) as answer:
        assert answer.status == 200
    assert a.calls[0].body == b"0123456789"


async def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "_BODY_SECONDS", 0.2)
    async with serving(Scripted("a", answers())) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"POST /team/model HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nslow")
        assert b"408" in await reader.readline()
        await closed(writer)


@pytest.mark.parametrize("begun", [b"", b"GET /team/model HTTP/1.1\r\nX-Slow: "])
async def test_a_head_that_does_not_come_is_not_waited_for(begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server._Handler, "head_seconds", 0.2)
    async with serving(Scripted("a", answers())) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(begun)
        async with asyncio.timeout(60):
            assert await reader.read() == b""
        await closed(writer)


async def test_a_large_body_is_told_to_come() -> None:
    async with serving(Scripted("a", answers())) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"POST /team/model HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"body")
        assert b"200 OK" in await reader.readline()
        await closed(writer)
