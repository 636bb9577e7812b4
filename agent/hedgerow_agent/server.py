"""/metrics and /healthz over the standard library's HTTP: few requests at a time, and a slow one keeps off no other."""

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hedgerow_agent.metrics import CONTENT_TYPE

_REQUEST_SECONDS = 3.0
_MAX_REQUESTS = 8
_EVERY = "::"


class Server:
    """Serves on a thread of its own. metrics: the text, now. trouble: why the agent is not well, empty when it is."""

    def __init__(self, address: str, metrics: Callable[[], str], trouble: Callable[[], str]) -> None:
        self._server = _listen(*_address(address))
        self._server.answers = {"/metrics": metrics, "/healthz": trouble}
        threading.Thread(target=self._server.serve_forever, args=(1.0,), name="metrics", daemon=True).start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()


class _Listener(ThreadingHTTPServer):
    answers: dict[str, Callable[[], str]]
    daemon_threads = True

    def __init__(self, family: socket.AddressFamily, host: str, port: int) -> None:
        self.address_family = family
        super().__init__((host, port), _Handler)
        self._room = threading.BoundedSemaphore(_MAX_REQUESTS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """On a thread of its own while there is room; else it is closed at once."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def server_bind(self) -> None:
        """Without asking for the host's name, which may take long where no name server answers."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(self.server_address[0] != _EVERY))
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves or is slow is its own trouble."""


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    timeout = _REQUEST_SECONDS

    def do_GET(self) -> None:
        """/metrics, /healthz."""
        path = self.path.partition("?")[0]
        if path not in self.server.answers:
            self._answer(404, "there are /metrics and /healthz\n", "text/plain")
        elif path == "/metrics":
            self._answer(200, self.server.answers[path](), CONTENT_TYPE)
        else:
            trouble = self.server.answers[path]()
            self._answer(503 if trouble else 200, (trouble or "ok") + "\n", "text/plain")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (of the base class)
        """Requests are not told."""

    def _answer(self, status: int, body: str, kind: str) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _listen(host: str, port: int) -> _Listener:
    """host empty: every address, IPv6 too where the machine has it."""
    if host:
        return _Listener(socket.AF_INET6 if ":" in host else socket.AF_INET, host, port)
    try:
        return _Listener(socket.AF_INET6, _EVERY, port)
    except OSError:
        # IPv6 is not built in, or switched off. A port that is taken is taken here too.
        return _Listener(socket.AF_INET, "", port)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535 or (":" in host) != host.startswith("["):
        raise ValueError(f"--metrics-address is {text!r}; expected HOST:PORT, like 127.0.0.1:9500, [::1]:9500 or :9500")
    return host.removeprefix("[").removesuffix("]"), int(port)
