"""What no client of good will sends: each is answered by a sentence, or the connection ends; the gateway goes on."""

import asyncio
import contextlib
import gzip

import pytest

from hedgerow_operator.gateway.settings import Speaks
from tests.gateway.data_path.gateways import post, serving
from tests.gateway.data_path.scripted import Scripted, answers, gives

HOSTILE = {
    "a path of nothing but slashes": b"POST ////////// HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    "a path with bytes that are no text": b"GET /team/model/%ff%00?%fe HTTP/1.1\r\nHost: x\r\n\r\n",
    "a path that climbs": b"POST /team/model/../../etc HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    "an address as the path": b"POST http://other/team/model HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    "two lengths": b"POST /team/model HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": (
        b"POST /team/model HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "chunks that are none": b"POST /team/model HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    "a length that is none": b"POST /team/model HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    "a head without end": b"POST /team/model HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    "no HTTP at all": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
}


@pytest.mark.parametrize("case", HOSTILE)
async def test_hostile_bytes_end_their_own_connection_at_most(case: str) -> None:
    async with serving(Scripted("a", answers())) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(HOSTILE[case])
        async with asyncio.timeout(60):
            told = await reader.read(200)
        assert told == b"" or (told.startswith(b"HTTP/1.") and b" 500 " not in told[:20])
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        assert (await post(served.url, {})).status == 200


@pytest.mark.parametrize("path", ["../admin", "v1/../../admin", "%2e%2e/admin", "a/%2E./b", "..%5cadmin", ".."])
async def test_no_path_leads_out_of_what_a_provider_was_declared_to_be(path: str) -> None:
    a = Scripted("a", answers())
    async with serving(a) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(f"GET /team/model/{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert b" 400 " in await reader.readline()
        await reader.read()
        writer.close()
        await writer.wait_closed()
    assert a.calls == []


BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "no text": b"\xff\xfe\x00",
    "no number": b'{"input": NaN}',
    "deep": b"[" * 100_000,
    "a list": b"[1]",
    "a surrogate": b'{"input": "\\ud800"}',
    "a huge number": b'{"input": 1' + b"0" * 5000 + b"}",
    "a stream that is no truth": b'{"stream": "yes", "input": {}}',
}


@pytest.mark.parametrize("case", BODIES)
@pytest.mark.parametrize("speaks", list(Speaks))
async def test_hostile_bodies_are_no_mistake_of_ours(case: str, speaks: Speaks) -> None:
    course = gives(1) if speaks is Speaks.JOB else answers()
    async with serving(Scripted("a", course), speaks=speaks) as served:
        got = await post(f"{served.url}/runsync", None, data=BODIES[case])
    assert got.status in (200, 400)


ODD_BODIES = {
    "gzip that is none": ({"Content-Encoding": "gzip"}, b"{}", 400),
    "a coding that nobody here decodes": ({"Content-Encoding": "zzz"}, b"{}", 415),
    "gzip": ({"Content-Encoding": "gzip"}, gzip.compress(b'{"input": 1}'), 200),
    "no coding at all": ({"Content-Encoding": "identity"}, b'{"input": 1}', 200),
}


@pytest.mark.parametrize("case", ODD_BODIES)
@pytest.mark.parametrize("speaks", list(Speaks))
async def test_a_body_that_is_coded_wrongly_is_its_clients_mistake(case: str, speaks: Speaks) -> None:
    headers, body, status = ODD_BODIES[case]
    a = Scripted("a", gives(1) if speaks is Speaks.JOB else answers())
    async with serving(a, speaks=speaks) as served:
        got = await post(f"{served.url}/runsync", None, data=body, headers=headers)
    assert got.status == status
    assert (status == 200) == bool(a.calls)


async def test_a_path_that_is_too_long_is_refused_and_never_cut() -> None:
    a = Scripted("a", answers())
    async with serving(a) as served:
        got = await post(f"{served.url}/search?q={'x' * 5000}", {})
        just = await post(f"{served.url}/search?q={'x' * 4000}", {})
    assert (got.status, just.status) == (414, 200)
    assert len(a.calls) == 1
