"""A real HTTP server on this machine that takes messages, and misbehaves as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class WebhookServer:
    """received: the bodies that it took with 200; paths: of all requests. answers: statuses for the next requests."""

    def __init__(self, *answers: int) -> None:
        self.received: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self._answers = list(answers)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.paths.append(self.path)
                status = outer._answers.pop(0) if outer._answers else 200
                if status == 200:
                    outer.received.append(data)
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/services/SECRET"

    @contextmanager
    def running(self) -> Iterator["WebhookServer"]:
        """Serve in the background."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
