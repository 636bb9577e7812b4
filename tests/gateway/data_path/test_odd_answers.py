"""Servers whose answers are no HTTP, or another protocol; and what is said of it, to whom."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import pytest

from hedgerow_operator.adapters.providers.passthrough import PassThrough
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import scrubbed
from tests.gateway.data_path.gateways import LOOPBACK, post, serving
from tests.gateway.data_path.scripted import Scripted, answers

ODD = {
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello",
    "a header with a bare CR": b"HTTP/1.1 200 OK\r\nX-A: b\rX-Evil: 1\r\nContent-Length: 0\r\n\r\n",
    "headers without end": b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 2000 + b"Content-Length: 0\r\n\r\n",
    "no HTTP at all": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
}


@contextlib.asynccontextmanager
async def provider(answer: bytes) -> AsyncIterator[PassThrough]:
    """It sends these bytes, and keeps the connection open."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await reader.read()
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield PassThrough(Setup(name="a", allowed_networks=LOOPBACK), address)


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_that_is_none_is_told_in_a_sentence_without_the_providers_address(
    case: str, stream: bool
) -> None:
    async with provider(ODD[case]) as a, serving(a) as served:
        async with asyncio.timeout(60):
            got = await post(served.url, {"stream": stream})
    assert got.status == 502
    assert "127.0.0.1" not in got.text
    assert "url=" not in got.text


@pytest.mark.parametrize("shown", ["key topsecret99", "key topsecre…", "key tops", "topsecret99 and tops…"])
def test_a_key_that_a_sentence_was_cut_within_is_not_shown(shown: str) -> None:
    told = scrubbed(shown, ["topsecret99"])
    assert "tops" not in told
    assert told.endswith("…")


async def test_what_clients_do_wrong_is_not_logged_as_ours(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with serving(Scripted("a", answers())) as served:
        for sent in (b"GET / HTTP/1.1\r\nX: \x00\r\n\r\n", b"POST /team/model HTTP/1.1\r\nContent-Length: -1\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(sent)
            told = await reader.read()
            writer.close()
            await writer.wait_closed()
            assert b" 400 " in told.splitlines()[0]
            assert b"aiohttp" not in told
        await post(served.url, None, data=b"{}", headers={"Content-Encoding": "gzip"})
    assert caplog.records == []
