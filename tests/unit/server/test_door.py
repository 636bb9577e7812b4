"""The quick way in: what it takes itself, what goes on as a connection of aiohttp's, and who cannot hold others up."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import ClassVar

import pytest
from aiohttp import web

from hedgerow import wire
from hedgerow_operator.server import app as app_module
from hedgerow_operator.server import door as door_module
from hedgerow_operator.server.app import make_runner
from hedgerow_operator.server.connections import _Server
from hedgerow_operator.server.door import Doors, answer, any_plain_head, plain_head
from hedgerow_operator.server.intake import PATHS
from hedgerow_operator.server.refusal import Refusal
from tests.unit.server.builders import TOKEN, Server, report

BODY = wire.encode(report())
PATIENCE_SECONDS = 60.0


def request(body: bytes = BODY, extra: str = "", path: str = wire.REPORTS_PATH) -> bytes:
    """As ``http.client`` writes it."""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: identity\r\nContent-Length: {len(body)}\r\n"
    return f"{head}{extra}Authorization: Bearer {TOKEN}\r\n\r\n".encode() + body


@pytest.fixture
async def server() -> Server:
    return Server()


@pytest.fixture(autouse=True)
async def nobody_left_behind() -> AsyncIterator[None]:
    yield
    for client in Client.made:
        client.writer.transport.abort()
    await asyncio.sleep(0)
    Client.made.clear()


@pytest.fixture
async def runner(server: Server) -> AsyncIterator[web.AppRunner]:
    runner = make_runner(server.app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner
    await runner.cleanup()


class Client:
    """One connection, byte by byte as a test wants it."""

    made: ClassVar["list[Client]"] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, runner: web.AppRunner) -> "Client":
        cls.made.append(cls(*await asyncio.open_connection("127.0.0.1", runner.addresses[0][1])))
        return cls.made[-1]

    async def answer(self) -> tuple[int, bytes]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            return int(head.split()[1]), await self.reader.readexactly(length)

    async def closed(self) -> bool:
        async with asyncio.timeout(PATIENCE_SECONDS):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


def doors(runner: web.AppRunner) -> Doors:
    assert isinstance(runner.server, _Server)
    return runner.server.doors


async def test_reports_follow_each_other_on_one_connection(server: Server, runner: web.AppRunner) -> None:
    client = await Client.to(runner)
    for _ in range(3):
        client.writer.write(request())
        status, body = await client.answer()
        assert (status, wire.decode_answer(body).current) == (200, True)
    assert server.hub.received == [report()] * 3
    assert len(doors(runner)) == 1


async def test_requests_sent_at_once_are_answered_in_turn(server: Server, runner: web.AppRunner) -> None:
    client = await Client.to(runner)
    client.writer.write(request() + request(b"no JSON") + request())
    assert [(await client.answer())[0] for _ in range(3)] == [200, 400, 200]


async def test_a_report_may_come_in_pieces(server: Server, runner: web.AppRunner) -> None:
    client, whole = await Client.to(runner), request()
    for first in range(0, len(whole), 97):
        client.writer.write(whole[first : first + 97])
        await client.writer.drain()
        await asyncio.sleep(0.001)
    assert (await client.answer())[0] == 200
    assert len(doors(runner)) == 1


async def test_who_wants_no_more_than_one_answer_gets_it_and_the_end(server: Server, runner: web.AppRunner) -> None:
    client = await Client.to(runner)
    client.writer.write(request(extra="Connection: close\r\n"))
    assert (await client.answer())[0] == 200
    assert await client.closed()


async def test_whatever_is_no_plain_report_is_answered_by_aiohttp(server: Server, runner: web.AppRunner) -> None:
    server.health.synced = True
    for asked, status in (
        (b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 404),
        (request(extra="X-Trace: 7\r\n"), 200),
    ):
        client = await Client.to(runner)
        client.writer.write(asked)
        assert (await client.answer())[0] == status, asked


async def test_a_connection_may_go_on_as_one_of_aiohttp_s(server: Server, runner: web.AppRunner) -> None:
    client = await Client.to(runner)
    client.writer.write(request())
    assert (await client.answer())[0] == 200
    client.writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert await client.answer() == (200, b"ok\n")
    client.writer.write(request())
    assert (await client.answer())[0] == 200
    assert len(doors(runner)) == 0


NOT_PLAIN = {
    "another path": request(path="/v1/other"),
    "a length twice": request(extra=f"Content-Length: {len(BODY)}\r\n"),
    "two tokens": request(extra="Authorization: Bearer other\r\n"),
    "chunks": request(extra="Transfer-Encoding: chunked\r\n"),
    "a compressed body": request(extra="Content-Encoding: gzip\r\n"),
    "a wish to be asked first": request(extra="Expect: 100-continue\r\n"),
    "another protocol afterwards": request(extra="Connection: Upgrade\r\n"),
    "a length that is no number": request().replace(b"Content-Length: ", b"Content-Length: +"),
    "digits of another script": request().replace(str(len(BODY)).encode(), "\u0663".encode(), 1),
    "a longer body than is taken, in the order of our senders": request(
        extra="Content-Type: application/json\r\n"
    ).replace(str(len(BODY)).encode(), b"99999999", 1),
    "a longer body than is taken": request().replace(str(len(BODY)).encode(), b"99999999", 1),
    "no host": request().replace(b"Host: x\r\n", b""),
    "a header over two lines": request(extra="Accept: a\r\n b\r\n"),
    "bytes that are no text": request().replace(TOKEN.encode(), b"\xff\xfe"),
    "line feeds alone": request().replace(b"\r\n", b"\n"),
    "an older HTTP": request().replace(b"HTTP/1.1", b"HTTP/1.0"),
}


@pytest.mark.parametrize("case", NOT_PLAIN)
def test_nothing_unusual_is_plain(case: str) -> None:
    assert plain_head(request()) is not None
    assert plain_head(NOT_PLAIN[case]) is None


TYPED = "Content-Type: application/json\r\n"


@pytest.mark.parametrize("extra", [TYPED, f"Connection: close\r\n{TYPED}", "", f"{TYPED}Connection: close\r\n"])
def test_a_head_in_the_order_of_our_senders_says_the_same_as_in_any_order(extra: str) -> None:
    for path in PATHS:
        quick, other = plain_head(request(path=path, extra=extra)), any_plain_head(request(path=path, extra=extra))
        assert quick is not None
        assert other is not None
        said = (path, len(BODY), TOKEN, "close" in extra, len(request(path=path, extra=extra)) - len(BODY))
        for head in (quick, other):
            assert (head.path, head.length, head.token, head.last, head.size) == said


def test_a_refusal_says_when_to_try_again() -> None:
    head, _, body = answer(Refusal(429, "too often", retry_after=3), last=False).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"\r\nRetry-After: 3\r\n" in head + b"\r\n"
    assert json.loads(body) == {"error": "too often"}


async def test_slow_and_silent_clients_are_closed_and_others_served_meanwhile(
    server: Server, runner: web.AppRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door_module, "SWEEP_SECONDS", 0.05)
    doors(runner).read_seconds = 0.3
    slow, silent = await Client.to(runner), await Client.to(runner)
    slow.writer.write(request()[:-5])
    good = await Client.to(runner)
    good.writer.write(request())
    assert (await good.answer())[0] == 200
    status, body = await slow.answer()
    assert (status, b"did not arrive within" in body) == (408, True)
    assert await silent.closed()


async def test_of_too_many_who_have_shown_nothing_the_oldest_go_and_believed_ones_stay(
    server: Server, runner: web.AppRunner
) -> None:
    doors(runner)._most_unproven = 5
    good = await Client.to(runner)
    good.writer.write(request())
    assert (await good.answer())[0] == 200
    strangers = [await Client.to(runner) for _ in range(5)]
    probe = await Client.to(runner)
    probe.writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (await probe.answer())[0] == 200
    assert await strangers[0].closed()
    good.writer.write(request())
    assert (await good.answer())[0] == 200
    assert len(doors(runner)) == 5


async def test_what_strangers_have_sent_of_reports_is_bounded_over_all_of_them(
    server: Server, runner: web.AppRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door_module, "MOST_UNPROVEN_BYTES", 100_000)
    good, silent = await Client.to(runner), await Client.to(runner)
    good.writer.write(request())
    assert (await good.answer())[0] == 200
    strangers = [await Client.to(runner) for _ in range(5)]
    for stranger in strangers:
        stranger.writer.write(request(b"x" * 40_000)[:-5])
        await stranger.writer.drain()
    assert [await stranger.closed() for stranger in strangers[:3]] == [True] * 3
    strangers[4].writer.write(b"xxxxx")
    assert (await strangers[4].answer())[0] == 400
    assert doors(runner)._unproven_bytes <= 100_000
    for client in (good, silent):
        client.writer.write(request())
        assert (await client.answer())[0] == 200


async def test_bodies_that_come_the_other_way_are_bounded_together_too(
    server: Server, runner: web.AppRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "MOST_UNPROVEN_BYTES", 100_000)
    strange = "X-Forwarded-For: 10.0.0.1\r\n"
    strangers = [await Client.to(runner) for _ in range(3)]
    for stranger in strangers:
        stranger.writer.write(request(b"x" * 40_000, strange)[:-5])
        await stranger.writer.drain()
    answers = [asyncio.create_task(stranger.answer()) for stranger in strangers]
    done, pending = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
    assert [(task.result()[0], b"at once" in task.result()[1]) for task in done] == [(503, True)]
    for stranger in strangers:
        with contextlib.suppress(ConnectionError):
            stranger.writer.write(b"xxxxx")
    assert [(await task)[0] for task in pending] == [400, 400]
    good = await Client.to(runner)
    good.writer.write(request(extra=strange))
    assert (await good.answer())[0] == 200


async def test_where_no_files_are_left_strangers_make_room_and_then_newcomers_have_to_come_back(
    server: Server, runner: web.AppRunner
) -> None:
    doors(runner)._most = 3
    stranger = await Client.to(runner)
    good = [await Client.to(runner) for _ in range(3)]
    for client in good:
        client.writer.write(request())
        assert (await client.answer())[0] == 200
    assert await stranger.closed()
    newcomer = await Client.to(runner)
    assert await newcomer.closed()
    good[0].writer.write(request())
    assert (await good[0].answer())[0] == 200


async def test_who_never_reads_answers_is_cut_off(server: Server, runner: web.AppRunner) -> None:
    client = await Client.to(runner)
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]

    async def ask_for_ever() -> None:
        while True:
            client.writer.write(request(b"no JSON") * 1000)
            await client.writer.drain()

    with pytest.raises(ConnectionError):
        await asyncio.wait_for(ask_for_ever(), 60)


async def test_a_server_that_stops_lets_everybody_go(server: Server, runner: web.AppRunner) -> None:
    client = await Client.to(runner)
    client.writer.write(request())
    assert (await client.answer())[0] == 200
    await runner.cleanup()
    assert await client.closed()
