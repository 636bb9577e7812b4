"""A connection that waits for the next request to the same server, so that not every report has to connect."""

from __future__ import annotations

import http.client
import select
import threading
from typing import NamedTuple, Optional

from hedgerow.machine import boottime

# A server closes what is idle; the firewalls and address translators between forget it in silence.
IDLE_SECONDS = 20.0
# After so long the name is resolved anew, and a proxy before several servers may choose again.
LIFE_SECONDS = 600.0


class Key(NamedTuple):
    """What a connection leads to. ca_file: what its certificate was checked by, empty: the machine's own."""

    scheme: str
    host: str
    port: Optional[int]
    ca_file: str


class Line(NamedTuple):
    """A connection. until: when it is used no more (CLOCK_BOOTTIME seconds)."""

    connection: http.client.HTTPConnection
    until: float


class KeptConnection:
    """At most one, for all threads that send to one server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Optional[Line] = None
        self._key: Optional[Key] = None
        self._since = 0.0

    def take(self, key: Key) -> Optional[Line]:
        """The connection, no longer kept; None when there is none that leads there and seems to be open."""
        now = boottime()
        with self._lock:
            line, self._waiting = self._waiting, None
            fits = self._key == key and now - self._since < IDLE_SECONDS
        if line is None:
            return None
        if fits and now < line.until and _is_quiet(line.connection):
            return line
        line.connection.close()
        return None

    def give(self, key: Key, line: Line) -> None:
        """Keep a connection on which an answer was read to its end, instead of any other."""
        with self._lock:
            older, self._waiting = self._waiting, line
            self._key, self._since = key, boottime()
        if older is not None:
            older.connection.close()

    def close(self) -> None:
        """Nobody asks any more; one that is out is closed by whoever has it."""
        with self._lock:
            line, self._waiting = self._waiting, None
        if line is not None:
            line.connection.close()


def _is_quiet(connection: http.client.HTTPConnection) -> bool:
    """A server that says something unasked has closed it, or does not speak as we do."""
    poll = select.poll()
    try:
        poll.register(connection.sock, select.POLLIN | select.POLLPRI)
        return not poll.poll(0)
    except (OSError, ValueError):
        return False
