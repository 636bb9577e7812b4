"""POST /v1/reports: what is believed, what is refused, and with which sentence."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from hedgerow import wire
from hedgerow_operator.reconcile.held import Held
from hedgerow_operator.server import app as app_module
from hedgerow_operator.server.app import make_runner
from tests.unit.server.builders import TOKEN, Server, report

BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
async def server() -> Server:
    return Server()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[TestClient[Any, Any]]:
    async with TestClient(TestServer(server.app)) as client:
        yield client


def changed(**fields: Any) -> bytes:
    return json.dumps({**json.loads(wire.encode(report())), **fields}).encode()


async def test_a_believed_report_reaches_the_hub_and_the_launcher_can_read_the_answer(
    server: Server, client: TestClient[Any, Any]
) -> None:
    response = await client.post(wire.REPORTS_PATH, data=wire.encode(report()), headers=BEARER)
    assert response.status == 200
    answer = wire.decode_answer(await response.read())
    assert answer.current
    assert answer.commands[0].resume_from == "/c/step-20"
    assert server.hub.received == [report()]


async def test_unknown_fields_pass(server: Server, client: TestClient[Any, Any]) -> None:
    body = changed(colour="green", job={"uid": "uid-1", "namespace": "default", "name": "run", "team": "a"})
    assert (await client.post(wire.REPORTS_PATH, data=body, headers=BEARER)).status == 200
    assert server.hub.received == [report()]


REFUSED: dict[str, tuple[bytes, dict[str, str], int, str]] = {
    "no token": (wire.encode(report()), {}, 401, "Authorization: Bearer TOKEN"),
    "an empty token": (wire.encode(report()), {"Authorization": "Bearer "}, 401, "Authorization: Bearer TOKEN"),
    "a wrong token": (wire.encode(report()), {"Authorization": "Bearer guess"}, 401, "not this job's"),
    "a token of another worker": (changed(worker=1, workers=2, ranks=[]), BEARER, 403, "the report is worker 1's"),
    "a job that does not exist": (
        changed(job={"uid": "gone", "namespace": "default", "name": "run"}),
        BEARER,
        404,
        "there is no job with uid 'gone'",
    ),
    "a version of the future": (
        changed(version=7),
        BEARER,
        400,
        "the report has version 7 and this operator understands version 1",
    ),
    "a version of the future in a form of the future": (
        b'{"version": 7, "work": []}',
        BEARER,
        400,
        "the report has version 7 and this operator understands version 1",
    ),
    "no JSON": (b"beat beat", BEARER, 400, "is not valid JSON"),
    "bytes that are no text": (b'{"stage": "\xff\xfe"}', BEARER, 400, "the report"),
    "an empty body": (b"", BEARER, 400, "is not valid JSON"),
    "a list": (b"[1]", BEARER, 400, "does not have the expected form"),
    "deep nesting": (b"[" * 100_000, BEARER, 400, "the report"),
    "a missing field": (b'{"version": 1}', BEARER, 400, "missing required field `job`"),
    "a text where a number belongs": (changed(worker="zero"), BEARER, 400, "$.worker"),
    "more than a mebibyte": (b" " * (1024 * 1024 + 1), BEARER, 413, "larger than 1048576 bytes"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_refused_with_one_sentence(case: str, server: Server, client: TestClient[Any, Any]) -> None:
    body, headers, status, sentence = REFUSED[case]
    response = await client.post(wire.REPORTS_PATH, data=io.BytesIO(body), headers=headers)
    text = (await response.json())["error"]
    assert (response.status, sentence in text) == (status, True), text
    assert "\n" not in text
    assert TOKEN not in text
    assert "Traceback" not in text
    assert server.hub.received == []
    assert f'hedgerow_reports_refused_total{{status="{status}"}} 1.0' in server.metrics.text().decode()


async def test_who_does_not_lead_believes_nobody(server: Server, client: TestClient[Any, Any]) -> None:
    server.leader.leads = False
    response = await client.post(wire.REPORTS_PATH, data=wire.encode(report()), headers=BEARER)
    assert response.status == 503
    assert "not the leader" in (await response.json())["error"]
    assert server.hub.received == []


async def test_a_body_that_never_ends_is_cut_and_others_are_served_meanwhile(
    server: Server, client: TestClient[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "READ_SECONDS", 0.3)
    reader, writer = await asyncio.open_connection(client.host, client.port)
    head = (
        f"POST {wire.REPORTS_PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n\r\n"
    )
    writer.write(head.encode() + b"{")
    await writer.drain()
    assert (await client.post(wire.REPORTS_PATH, data=wire.encode(report()), headers=BEARER)).status == 200
    assert b" 408 " in await reader.readline()
    writer.close()


async def test_a_client_that_leaves_frees_the_handler_that_holds_its_answer(server: Server) -> None:
    holding: list[Held] = []

    def hold(report: wire.Report, reply: Callable[[wire.Answer], None]) -> Held:
        holding.append(Held(report, reply, due=3600.0))
        return holding[0]

    server.hub.hold = hold  # type: ignore[method-assign]
    runner = make_runner(server.app)
    await runner.setup()
    port = await listen(runner)
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    body = wire.encode(report())
    head = f"POST {wire.REPORTS_PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await until(lambda: bool(holding))
    assert holding[0].open
    writer.close()
    await until(lambda: not holding[0].open)
    await runner.cleanup()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)


async def listen(runner: web.AppRunner) -> int:
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port: int = runner.addresses[0][1]
    return port
