"""Sends reports and brings back answers: one held request in calm, a fresh one at once when something happened."""

from __future__ import annotations

import functools
import random
import threading
from typing import Any, Callable, List, NamedTuple, Optional

from hedgerow import wire
from hedgerow.http_exchange import Exchange, Refused
from hedgerow.kept_connection import KeptConnection
from hedgerow.log import say
from hedgerow.machine import boottime
from hedgerow.options import Options

# The server may hold an answer for the interval; this much later it counts as lost.
ANSWER_MARGIN_SECONDS = 10.0
FIRST_BACKOFF_SECONDS = 0.2
# Between one request and the next, however fast answers come.
SPACING_SECONDS = 0.2
LONGEST_BACKOFF_SECONDS = 5.0
# A server holds the older request until it has read the newer one; more than two would be of no use.
_OPEN_REQUESTS = 2
_SHORTEST_INTERVAL_SECONDS = 0.1


class Delivery(NamedTuple):
    """An answer, with what it answers. sent: CLOCK_BOOTTIME seconds just before the request was sent."""

    answer: wire.Answer
    attempt: int
    seq: int
    sent: float


class Reporter(threading.Thread):
    """Reports for as long as the process lives.

    build: makes the newest report (called on a sending thread). deliver: takes each answer (likewise).
    """

    def __init__(self, options: Options, build: Callable[[], wire.Report], deliver: Callable[[Delivery], None]) -> None:
        super().__init__(name="reporter", daemon=True)
        self._options = options
        self._build = build
        self._deliver = deliver
        self._changed = threading.Condition()
        self._urgent = False
        self._open: List[Exchange] = []
        self._kept = KeptConnection()
        self._due = 0.0
        self._interval = 5.0
        self._failures = 0
        self._trouble = ""
        self.sent_seq = 0

    def report_now(self) -> None:
        """Something unusual happened: send a report without waiting for the answer that is held."""
        with self._changed:
            self._urgent = True
            self._changed.notify()

    def run(self) -> None:
        """Start a request whenever one is due."""
        while True:
            with self._changed:
                while not self._is_due():
                    self._changed.wait(self._wait_seconds())
                self._urgent = False
                self._due = boottime() + self._interval
                exchange = self._new_exchange()
            if exchange is not None:
                threading.Thread(target=self._send, args=(exchange,), name="report", daemon=True).start()

    def _is_due(self) -> bool:
        if self._failures:
            return boottime() >= self._due and not self._open
        return self._urgent or (boottime() >= self._due and not self._open)

    def _wait_seconds(self) -> Optional[float]:
        return None if self._open else max(0.0, self._due - boottime())

    def _new_exchange(self) -> Optional[Exchange]:
        try:
            exchange = Exchange(self._url(), self._options.ca_file, kept=self._kept)
        except (OSError, ValueError) as error:
            self._note_failure(error)
            return None
        while len(self._open) >= _OPEN_REQUESTS:
            self._open.pop(0).cut()
        self._open.append(exchange)
        return exchange

    def _send(self, exchange: Exchange) -> None:
        sent = boottime()
        try:
            report = self._build()
            wait = self._interval + ANSWER_MARGIN_SECONDS
            note = functools.partial(self._note_sent, report.seq)
            data = exchange.request("POST", wire.REPORTS_PATH, wire.encode(report), self._token(), wait, note)
            answer = wire.decode_answer(data)
            interval = max(_SHORTEST_INTERVAL_SECONDS, float(answer.interval_seconds))
        except Exception as error:  # noqa: BLE001 (whatever an answer holds, the next report must go out)
            self._finish(exchange, error)
            return
        self._deliver(Delivery(answer, report.attempt, report.seq, sent))
        self._finish(exchange, None, interval, sent)

    def _note_sent(self, seq: int) -> None:
        self.sent_seq = max(self.sent_seq, seq)

    def _finish(self, exchange: Exchange, error: Optional[Exception], interval: float = 0.0, sent: float = 0.0) -> None:
        with self._changed:
            was_cut = exchange not in self._open
            older = [] if was_cut else self._open[: self._open.index(exchange)]
            if not was_cut:
                self._open.remove(exchange)
            if error is None:
                # What an older request would still bring, this answer has said, or the next one will.
                for overtaken in older:
                    self._open.remove(overtaken)
                    overtaken.cut()
                self._note_success(interval, sent)
            elif not was_cut:
                self._note_failure(error)
            self._changed.notify()

    def _note_success(self, interval: float, sent: float) -> None:
        if self._trouble:
            say("reports reach the operator again")
        self._failures, self._trouble = 0, ""
        self._interval = interval
        # The server holds an answer for the interval; one that came early (new deadlines, commands) must not leave a
        # gap in which no request is open and commands have to wait.
        self._due = max(boottime(), sent + min(interval, SPACING_SECONDS))

    def _note_failure(self, error: Exception) -> None:
        refused = isinstance(error, Refused) and 400 <= error.status < 500
        backoff = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** min(self._failures, 10))
        if refused:
            backoff = LONGEST_BACKOFF_SECONDS
        self._failures += 1
        self._due = boottime() + backoff * random.uniform(0.5, 1.0)  # noqa: S311 (jitter)
        trouble = "the operator refuses reports: %s" % error if refused else "no report reaches the operator"
        if trouble != self._trouble:
            self._trouble = trouble
            say(trouble if refused else "%s (%s); the ranks go on, and it is tried again" % (trouble, _name(error)))

    def _url(self) -> str:
        if self._options.report_url:
            return self._options.report_url
        return _first_line(self._options.address_file)

    def _token(self) -> str:
        return _first_line(self._options.token_file) if self._options.token_file else ""


def _first_line(path: str) -> str:
    """Read anew at each use: addresses move and projected tokens rotate."""
    with open(path) as file:
        return file.readline().strip()


def _name(error: Any) -> str:
    return str(error) or type(error).__name__
