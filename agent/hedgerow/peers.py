"""Launchers of one attempt know each other: a small server that answers, and a thread that asks when needed."""

from __future__ import annotations

import hmac
import http.client
import http.server
import socket
import socketserver
import threading
import urllib.parse
from typing import Any, Callable, NamedTuple, Optional, Tuple

from hedgerow import wire
from hedgerow.fence import PeerWord
from hedgerow.http_exchange import Exchange, Refused
from hedgerow.machine import boottime

ASK_SECONDS = 2.0


class Standing(NamedTuple):
    """What the server may say: the attempt here, its secret, whether it runs, when its newest good request was sent."""

    attempt: int
    nonce: str
    running: bool
    current_sent: Optional[float]


class PeerServer(threading.Thread):
    """Answers other launchers. ``standing`` is replaced by the owner whenever it changes."""

    def __init__(self) -> None:
        super().__init__(name="peers", daemon=True)
        self.standing = Standing(0, "", False, None)
        self._server = _listen(self)
        self.port = int(self._server.server_address[1])

    def run(self) -> None:
        """Serve as long as the process lives."""
        self._server.serve_forever()

    def close(self) -> None:
        """Stop listening."""
        self._server.server_close()

    def answer(self, attempt: int, token: str, now: float) -> Optional[wire.PeerAnswer]:
        """What to tell a launcher of ``attempt`` that shows ``token``; None: nothing, it is none of us."""
        known = self.standing
        if not known.nonce or not hmac.compare_digest(known.nonce.encode(), token.encode()):
            return None
        if attempt != known.attempt or not known.running:
            return wire.PeerAnswer(attempt=attempt, running=False)
        age = None if known.current_sent is None else max(0.0, now - known.current_sent)
        return wire.PeerAnswer(attempt=attempt, running=True, answer_age=age)


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True
    owner: PeerServer

    def server_bind(self) -> None:
        # HTTPServer would look its own name up, which can hang where there is no DNS.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "", int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A peer that hangs up is no event."""


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout = 2.0
    server: _Server

    def do_GET(self) -> None:
        parts = urllib.parse.urlsplit(self.path)
        attempt = urllib.parse.parse_qs(parts.query).get("attempt", [""])[0]
        if parts.path != wire.PEER_PATH or not attempt.isdigit():
            self._send(404, b"{}")
            return
        token = self.headers.get("Authorization", "")
        token = token[len("Bearer ") :] if token.startswith("Bearer ") else ""
        answer = self.server.owner.answer(int(attempt), token, boottime())
        if answer is None:
            self._send(403, b"{}")
            return
        self._send(200, wire.encode(answer))

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the base class's)
        """Requests are not logged: their headers hold a secret, and nobody needs them."""


def _listen(owner: PeerServer) -> _Server:
    """On every address, IPv6 included where the machine has it."""
    try:
        server: _Server = _Server6(("::", 0), _Handler)
    except OSError:
        server = _Server(("", 0), _Handler)
    server.owner = owner
    return server


def ask(peers: Tuple[str, ...], attempt: int, nonce: str, take: Callable[[str, PeerWord], None]) -> None:
    """Ask every peer at once, each on a thread of its own; ``take`` gets what those that answer say."""
    for peer in peers:
        threading.Thread(target=_ask_one, args=(peer, attempt, nonce, take), name="ask-peer", daemon=True).start()


def _ask_one(peer: str, attempt: int, nonce: str, take: Callable[[str, PeerWord], None]) -> None:
    asked = boottime()
    try:
        exchange = Exchange("http://" + peer, connect_seconds=ASK_SECONDS)
        data = exchange.request("GET", "%s?attempt=%d" % (wire.PEER_PATH, attempt), None, nonce, ASK_SECONDS)
        answer = wire.decode_peer_answer(data)
    except (OSError, ValueError, http.client.HTTPException, Refused):
        # Silence: what it said before ages by itself.
        return
    take(peer, PeerWord(asked, answer))
