"""Requests that are no HTTP or no text: one sentence back, no traceback anywhere, and no token told."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from hedgerow import wire
from hedgerow_operator.server.app import make_runner
from tests.unit.server.builders import TOKEN, Server, report


@pytest.fixture
async def server() -> Server:
    return Server()


@pytest.fixture
async def port(server: Server) -> AsyncIterator[int]:
    runner = make_runner(server.app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


async def answer(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    found = await asyncio.wait_for(reader.read(), 30)
    writer.close()
    return found


def post(header: bytes, body: bytes = wire.encode(report())) -> bytes:
    head = b"POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" % wire.REPORTS_PATH.encode()
    return head + header + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body


BEARER = b"Authorization: Bearer " + TOKEN.encode()
REFUSED = {
    "a token of bytes that are no text": (post(b"Authorization: Bearer \xff\xfe"), b"401", b"ASCII text"),
    "a token that ends in NUL": (post(BEARER + b"\0"), b"400", b"not valid HTTP"),
    "a header without a colon": (post(b"Bearer " + TOKEN.encode()), b"400", b"not valid HTTP"),
    "a body that is not compressed as it says": (post(BEARER + b"\r\nContent-Encoding: gzip"), b"400", b"plain JSON"),
    "a body that is no deflate": (post(BEARER + b"\r\nContent-Encoding: deflate", b"\xff" * 99), b"400", b"plain JSON"),
    "a bad chunk": (
        post(BEARER + b"\r\nTransfer-Encoding: chunked", b"x").replace(b"\r\nContent-Length: 1", b"") + b"\r\n",
        b"400",
        b"error",
    ),
    "no HTTP at all": (b"\x16\x03\x01" + TOKEN.encode() + b"\r\n\r\n", b"400", b"not valid HTTP"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_refused_in_one_sentence_that_quotes_nothing(
    case: str, server: Server, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    request, status, sentence = REFUSED[case]
    with caplog.at_level(logging.DEBUG):
        found = await answer(port, request)
    assert found.split()[1] == status, found
    assert sentence in found
    assert TOKEN.encode() not in found
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING], caplog.text
    assert TOKEN not in caplog.text
    assert server.hub.received == []


async def test_a_fault_of_our_own_is_logged_by_its_place_and_not_by_its_text(
    server: Server, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: wire.Report) -> None:
        raise ValueError(TOKEN)

    server.hub.receive = fail  # type: ignore[method-assign]
    found = await answer(port, post(BEARER))
    assert found.split()[1] == b"500"
    assert "ValueError at test_malformed_requests.py" in caplog.text
    assert TOKEN not in caplog.text
    assert TOKEN.encode() not in found
    assert "Traceback" not in caplog.text
