"""Sends reports: one an interval, and one at once when something changed. The agent never waits for it."""

import random
import threading
from collections.abc import Callable

from hedgerow.http_exchange import Exchange, Refused
from hedgerow.kept_connection import KeptConnection
from hedgerow.machine import boottime
from hedgerow.wire_agent import AGENT_REPORTS_PATH, AgentReport, decode_answer, encode_report
from hedgerow_agent.log import say

ANSWER_SECONDS = 10.0
# However fast things change, so long from report to report.
SPACING_SECONDS = 1.0
_SHORTEST, _LONGEST = 0.5, 600.0
_BACKOFF = (1.0, 30.0)


class Address:
    """Where the operator is: a URL, or a file that holds it."""

    def __init__(self, url: str, file: str = "") -> None:
        self._url = url
        self._file = file

    def url(self) -> str:
        """It, read anew: a controller that was started again listens elsewhere. Raises OSError."""
        return _first_line(self._file) if self._file else self._url

    def __str__(self) -> str:
        return self._file or self._url


class Reporter(threading.Thread):
    """Reports for as long as the process lives. build: makes the newest report, on this thread."""

    def __init__(
        self, address: Address, token_file: str, ca_file: str, interval: float, build: Callable[[], AgentReport]
    ) -> None:
        super().__init__(name="reporter", daemon=True)
        self._address = address
        self._token_file = token_file
        self._ca_file = ca_file
        self._interval = interval
        self._build = build
        self._kept = KeptConnection()
        self._changed = threading.Condition()
        self._urgent = False
        self._sent = -SPACING_SECONDS
        # Agents that are started together do not report together.
        self._due = boottime() + random.uniform(0.0, min(interval, 5.0))  # noqa: S311
        self._failures = 0
        self._trouble = ""
        self._ended = False

    def report_now(self) -> None:
        """Something changed."""
        with self._changed:
            self._urgent = True
            self._changed.notify()

    def end(self) -> None:
        """Send no more."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def run(self) -> None:
        """Send whenever one is due."""
        while True:
            with self._changed:
                while not self._ended and (wait := self._wait_seconds()) > 0:
                    self._changed.wait(wait)
                if self._ended:
                    self._kept.close()
                    return
                self._urgent = False
            self._send()

    def _wait_seconds(self) -> float:
        now = boottime()
        if self._urgent and not self._failures:
            return max(0.0, self._sent + SPACING_SECONDS - now)
        return max(0.0, self._due - now)

    def _send(self) -> None:
        self._sent = boottime()
        try:
            body = encode_report(self._build())
            exchange = Exchange(self._address.url(), self._ca_file, kept=self._kept)
            data = exchange.request("POST", AGENT_REPORTS_PATH, body, self._token(), ANSWER_SECONDS)
            self._interval = min(_LONGEST, max(_SHORTEST, decode_answer(data).interval_seconds))
        except Exception as error:  # noqa: BLE001 (whatever an answer holds, the next report must go out)
            self._failed(error)
            return
        if self._trouble:
            say("reports reach the operator again")
        self._failures, self._trouble = 0, ""
        self._due = self._sent + self._interval

    def _failed(self, error: Exception) -> None:
        shortest, longest = _BACKOFF
        backoff = min(longest, shortest * 2 ** min(self._failures, 10))
        self._failures += 1
        self._due = boottime() + backoff * random.uniform(0.5, 1.0)  # noqa: S311
        refused = isinstance(error, Refused) and 400 <= error.status < 500
        trouble = "the operator refuses reports" if refused else "no report reaches the operator"
        if trouble != self._trouble:
            self._trouble = trouble
            say(f"{trouble} at {self._address}: {error or type(error).__name__}; it is tried again")

    def _token(self) -> str:
        """Read anew at each use: projected tokens rotate."""
        return _first_line(self._token_file) if self._token_file else ""


def _first_line(path: str) -> str:
    with open(path) as file:
        return file.readline().strip()
