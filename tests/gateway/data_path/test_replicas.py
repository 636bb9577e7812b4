"""What one replica of a gateway asks of another for its client."""
# ruff: noqa: SIM117, PT012

import asyncio
import gzip
from typing import Any

import aiohttp
import pytest

from hedgerow_operator.gateway.peers import Replica
from hedgerow_operator.gateway.settings import Speaks
from tests.gateway.data_path.gateways import client, free_socket, post, serving
from tests.gateway.data_path.scripted import Scripted, answers, gives

JOB: Any = {"speaks": Speaks.JOB}


async def _dies_in_the_middle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    await writer.drain()
    await asyncio.sleep(0.1)
    writer.close()
    await writer.wait_closed()


async def test_a_replica_that_dies_in_the_middle_breaks_the_answer_off_and_adds_nothing_to_it() -> None:
    listener, other = free_socket(), await asyncio.start_server(_dies_in_the_middle, "127.0.0.1", 0)
    addresses = (
        f"http://127.0.0.1:{listener.getsockname()[1]}",
        f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}",
    )
    read = b""
    async with (
        other,
        serving(
            Scripted("a", gives(1)), own=Replica(number=0, addresses=addresses), listener=listener, **JOB
        ) as served,
        client() as http,
    ):
        with pytest.raises(aiohttp.ClientError):
            async with http.get(f"{served.url}/status/1-x") as answer:
                async for piece in answer.content.iter_any():
                    read += piece
    assert read == b"hello"


async def test_a_compressed_body_reaches_the_replica_that_knows_its_key() -> None:
    listeners = [free_socket(), free_socket()]
    addresses = tuple(f"http://127.0.0.1:{one.getsockname()[1]}" for one in listeners)
    a, b = Scripted("a", answers(b"of 0")), Scripted("b", answers(b"of 1"))
    first, second = (Replica(number=number, addresses=addresses) for number in (0, 1))
    text = b'{"input": "' + b"x" * 5000 + b'"}'
    asked: dict[str, Any] = {
        "data": gzip.compress(text),
        "headers": {"Content-Encoding": "gzip", "Idempotency-Key": "k"},
    }
    async with serving(a, own=first, listener=listeners[0]) as one:
        async with serving(b, own=second, listener=listeners[1]) as another:
            got = [await post(served.url, None, **asked) for served in (one, another)]
    assert [each.status for each in got] == [200, 200]
    assert got[0].text == got[1].text
    assert [call.body for call in a.calls + b.calls] == [text]
