"""Requests over a kept connection: fewer connections, and never an answer fewer."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from hedgerow import kept_connection
from hedgerow.http_exchange import Exchange, Refused
from hedgerow.kept_connection import KeptConnection, Key

KEEPS, CLOSES = b"", b"Connection: close\r\n"
Say = Callable[[socket.socket], bool]


def answers(body: bytes, header: bytes = KEEPS, status: bytes = b"200 OK") -> Say:
    """The server says this and listens on, unless it said that it closes."""

    def say(sock: socket.socket) -> bool:
        sock.sendall(b"HTTP/1.1 " + status + b"\r\n" + header + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return header == KEEPS

    return say


def hangs_up(sock: socket.socket) -> bool:
    return False


def is_silent(sock: socket.socket) -> bool:
    sock.recv(1)  # until the client leaves
    return False


class Server:
    """Answers each request, in order, as it was told. requests: the connection's number and the body of each."""

    def __init__(self) -> None:
        self.script: list[Say] = []
        self.requests: list[tuple[int, bytes]] = []
        self.connections: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                sock = self._listening.accept()[0]
            except OSError:
                return
            self.connections.append(sock)
            threading.Thread(target=self._serve, args=(sock, len(self.connections)), daemon=True).start()

    def _serve(self, sock: socket.socket, number: int) -> None:
        with sock, sock.makefile("rb") as file:
            while (body := _request(file)) is not None:
                self.requests.append((number, body))
                if not self.script.pop(0)(sock):
                    return

    def hang_up(self) -> None:
        """Close what is open, between two requests."""
        for sock in self.connections:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()
        self.hang_up()


def _request(file: object) -> bytes | None:
    length, line = 0, file.readline()  # type: ignore[attr-defined]
    if not line:
        return None
    while line.strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        line = file.readline()  # type: ignore[attr-defined]
    return file.read(length)  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def kept() -> Iterator[KeptConnection]:
    kept = KeptConnection()
    yield kept
    assert kept.take(Key("http", "nowhere", None, "")) is None  # so that it is closed


def exchange(server: Server, kept: KeptConnection | None) -> Exchange:
    return Exchange(f"http://127.0.0.1:{server.port}", kept=kept)


def post(server: Server, kept: KeptConnection | None, body: bytes, seconds: float = 5.0) -> bytes:
    return exchange(server, kept).request("POST", "/", body, "token", seconds)


def test_requests_follow_each_other_on_one_connection(server: Server, kept: KeptConnection) -> None:
    server.script = [answers(b"1"), answers(b"2"), answers(b"3")]
    assert [post(server, kept, body) for body in (b"a", b"b", b"c")] == [b"1", b"2", b"3"]
    assert server.requests == [(1, b"a"), (1, b"b"), (1, b"c")]


def test_without_a_place_to_keep_it_each_has_its_own(server: Server) -> None:
    server.script = [answers(b"1"), answers(b"2")]
    assert [post(server, None, b"a"), post(server, None, b"b")] == [b"1", b"2"]
    assert [number for number, _ in server.requests] == [1, 2]


# Each: what the server does with the first request; the second must be answered on a new connection.
ENDS: dict[str, Say] = {
    "a server that says that it closes": answers(b"1", CLOSES),
    "an answer that no end is told of": lambda sock: bool(sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n1")),
}


@pytest.mark.parametrize("case", ENDS)
def test_a_new_connection_follows(case: str, server: Server, kept: KeptConnection) -> None:
    server.script = [ENDS[case], answers(b"2")]
    assert [post(server, kept, b"a"), post(server, kept, b"b")] == [b"1", b"2"]
    assert server.requests == [(1, b"a"), (2, b"b")]


def test_after_an_error_another_server_may_answer(server: Server, kept: KeptConnection) -> None:
    server.script = [answers(b"not the leader", status=b"503 No"), answers(b"2")]
    with pytest.raises(Refused, match="503 not the leader"):
        post(server, kept, b"a")
    assert post(server, kept, b"b") == b"2"
    assert server.requests == [(1, b"a"), (2, b"b")]


def test_a_connection_that_was_closed_meanwhile_is_replaced(server: Server, kept: KeptConnection) -> None:
    server.script = [answers(b"1"), answers(b"2")]
    assert post(server, kept, b"a") == b"1"
    server.hang_up()
    assert post(server, kept, b"b") == b"2"
    assert server.requests == [(1, b"a"), (2, b"b")]


def test_a_connection_that_closes_under_a_request_is_replaced_and_the_request_goes_out_again(
    server: Server, kept: KeptConnection
) -> None:
    server.script = [answers(b"1"), hangs_up, answers(b"2")]
    assert post(server, kept, b"a") == b"1"
    assert post(server, kept, b"b") == b"2"
    assert server.requests == [(1, b"a"), (1, b"b"), (2, b"b")]


def test_a_new_connection_that_closes_is_an_error(server: Server, kept: KeptConnection) -> None:
    server.script = [hangs_up]
    with pytest.raises(http.client.RemoteDisconnected):
        post(server, kept, b"a")
    assert server.requests == [(1, b"a")]


def test_a_server_that_stays_silent_is_waited_for_once(server: Server, kept: KeptConnection) -> None:
    server.script = [answers(b"1"), is_silent]
    post(server, kept, b"a")
    with pytest.raises(socket.timeout):
        post(server, kept, b"b", seconds=0.2)
    assert server.requests == [(1, b"a"), (1, b"b")]


def test_a_request_that_is_cut_ends_and_is_not_sent_again(server: Server, kept: KeptConnection) -> None:
    server.script = [answers(b"1"), is_silent]
    post(server, kept, b"a")
    second = exchange(server, kept)
    with pytest.raises((OSError, http.client.HTTPException)):
        second.request("POST", "/", b"b", "", 5.0, sent=second.cut)
    assert server.requests in ([(1, b"a"), (1, b"b")], [(1, b"a")])


def test_cutting_a_request_that_was_answered_leaves_the_connection_to_the_next(
    server: Server, kept: KeptConnection
) -> None:
    server.script = [answers(b"1"), answers(b"2")]
    first = exchange(server, kept)
    first.request("POST", "/", b"a", "", 5.0)
    first.cut()
    assert post(server, kept, b"b") == b"2"
    assert server.requests == [(1, b"a"), (1, b"b")]


def test_of_two_requests_at_once_one_connection_is_kept(server: Server, kept: KeptConnection) -> None:
    server.script = [answers(b"1"), answers(b"2"), answers(b"3")]
    inner: list[bytes] = []
    outer = exchange(server, kept).request(
        "POST", "/", b"a", "", 5.0, sent=lambda: inner.append(post(server, kept, b"b"))
    )
    assert sorted([outer, *inner]) == [b"1", b"2"]
    assert post(server, kept, b"c") == b"3"
    assert len(server.connections) == 2


@pytest.mark.parametrize("limit", ["IDLE_SECONDS", "LIFE_SECONDS"])
def test_a_connection_is_not_used_beyond(
    limit: str, server: Server, kept: KeptConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_connection, "IDLE_SECONDS", 0.0 if limit == "IDLE_SECONDS" else 20.0)
    monkeypatch.setattr("hedgerow.http_exchange.LIFE_SECONDS", 0.0 if limit == "LIFE_SECONDS" else 600.0)
    server.script = [answers(b"1"), answers(b"2")]
    assert [post(server, kept, b"a"), post(server, kept, b"b")] == [b"1", b"2"]
    assert server.requests == [(1, b"a"), (2, b"b")]


def test_a_connection_leads_only_where_it_was_made_for(server: Server, kept: KeptConnection) -> None:
    other = Server()
    server.script, other.script = [answers(b"1")], [answers(b"2")]
    assert [post(server, kept, b"a"), post(other, kept, b"b")] == [b"1", b"2"]
    other.close()


def test_what_a_vanished_peer_does_not_acknowledge_is_given_up_as_soon_as_on_connecting(
    server: Server, kept: KeptConnection
) -> None:
    server.script = [answers(b"1")]
    post(server, kept, b"a")
    line = kept.take(Key("http", "127.0.0.1", server.port, ""))
    assert line is not None
    assert line.connection.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 5000
    line.connection.close()


def test_proxies_are_passed_by(server: Server, kept: KeptConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server.script = [answers(b"1")]
    assert post(server, kept, b"a") == b"1"
