"""A small report server for the launcher's tests: it records every report and answers with scripted commands."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from hedgerow import wire

HOLD_SECONDS = 5.0


class OperatorDouble:
    """Listens on a free port of the loopback. ``interval`` is what calm launchers are told; answers are held for it."""

    def __init__(self, interval: float = 1.0) -> None:
        self.interval = interval
        self.reports: list[wire.Report] = []
        self.tokens: list[str] = []
        self.connections = 0
        self.current = True
        self.deadlines: dict[str, float] = {}
        self.refusal: tuple[int, bytes] | None = None
        self._commands: dict[int, list[wire.Command]] = {}
        self._told: dict[str, list[wire.Command] | None] = {}
        self._changed = threading.Condition()
        self._server: http.server.ThreadingHTTPServer | None = None
        self.port = 0
        self.listen()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def listen(self) -> None:
        """Begin to listen, on the same port as before."""
        self._server = _Server(("127.0.0.1", self.port), _handler(self))
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def go_away(self) -> None:
        """Refuse connections from now on, and break off the answers that are held."""
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        if self._server is not None:
            self.go_away()

    def command(self, *commands: wire.Command, worker: int = 0) -> None:
        """From now on every answer to ``worker`` carries exactly these."""
        with self._changed:
            self._commands[worker] = list(commands)
            self._changed.notify_all()

    def of(self, worker: int = 0) -> list[wire.Report]:
        with self._changed:
            return [report for report in self.reports if report.worker == worker]

    def wait_for(
        self, what: Callable[[wire.Report], Any], worker: int = 0, seconds: float = 120.0, after: int = 0
    ) -> wire.Report:
        """The first report of ``worker`` (with a seq above ``after``) for which ``what`` holds."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                for report in self.reports:
                    if report.worker == worker and report.seq > after and what(report):
                        return report
                left = end - time.monotonic()
                if left <= 0:
                    newest = [report for report in self.reports if report.worker == worker][-1:]
                    raise AssertionError(f"no such report within {seconds} s; the newest: {newest}")
                self._changed.wait(left)

    def wait_for_rank(self, what: Callable[[wire.RankReport], Any], worker: int = 0, after: int = 0) -> wire.RankReport:
        """The first rank of ``worker``, in the first report in which ``what`` holds of it."""
        report = self.wait_for(lambda report: report.ranks and what(report.ranks[0]), worker, after=after)
        return report.ranks[0]

    def take(self, report: wire.Report, token: str) -> wire.Answer | None:
        """Record ``report`` and wait until there is something to say; None when the server has gone."""
        with self._changed:
            self.reports.append(report)
            self.tokens.append(token)
            self._changed.notify_all()
            end = time.monotonic() + self.interval
            while self._is_quiet(report) and time.monotonic() < end:
                self._changed.wait(end - time.monotonic())
            if self._server is None:
                return None
            commands = self._commands.get(report.worker, [])
            self._told[report.launcher] = self._commands.get(report.worker)
            return wire.Answer(self.current, self.interval, deadlines=dict(self.deadlines), commands=list(commands))

    def _is_quiet(self, report: wire.Report) -> bool:
        commands = self._commands.get(report.worker)
        newer = any(r.launcher == report.launcher and r.seq > report.seq for r in self.reports[-8:])
        return self._server is not None and self._told.get(report.launcher) is commands and not newer


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A launcher that was killed hangs up in mid-request."""


def _handler(operator: OperatorDouble) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            operator.connections += 1

        def do_POST(self) -> None:
            assert self.path == wire.REPORTS_PATH
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if operator.refusal is not None:
                self._send(*operator.refusal)
                return
            report = msgspec.json.decode(body, type=wire.Report)
            answer = operator.take(report, self.headers.get("Authorization", ""))
            if answer is None:
                self.close_connection = True
                return
            self._send(200, wire.encode(answer))

        def _send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
