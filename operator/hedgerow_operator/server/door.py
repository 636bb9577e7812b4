"""The quick way in for plain reports: no task, no request object, one write an answer.

A connection begins here. As long as all that comes is a report in the form that our senders use (a POST to one of the
report paths, few and known headers, a Content-Length), it is read here. Whatever looks otherwise goes on as a
connection of aiohttp's, for good and from its first byte: that one answers probes, scrapes and mistakes.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from email.utils import formatdate
from http import HTTPStatus

from hedgerow_operator.server.asked import Asked
from hedgerow_operator.server.intake import MAX_REPORT_BYTES, PATHS, Intake
from hedgerow_operator.server.listening import most_connections
from hedgerow_operator.server.refusal import Refusal

# A request has so long to arrive (a report is a few kilobytes: who needs longer is stuck or hostile), and a connection
# may idle so long between two.
READ_SECONDS = 10.0
IDLE_SECONDS = 75.0
SWEEP_SECONDS = 1.0
READ_BYTES = 256 * 1024  # at once, as asyncio does
# Connections that wait for a first report, or for another after one that was not believed; of more than these the
# oldest has to go. One whose report is here waits for us, and stays.
MOST_UNPROVEN = 4096
# What all of them together have sent of reports that are not whole; beyond it the oldest that hold some have to go.
MOST_UNPROVEN_BYTES = 64 * 1024 * 1024
_NOT_BELIEVED = (400, 401, 403, 404, 408, 413)
_PUNCTUAL_SECONDS = 0.1
_LONGEST_HEAD = 8 * 1024
_MOST_UNREAD_ANSWERS = 64 * 1024
_HEAD = re.compile(rb"POST (/[a-z0-9/-]+) HTTP/1\.1\r\n((?:[A-Za-z-]+:[ \t]*[ -~\t]*\r\n)+)\r\n")
# Just as http.client writes it for our launchers and agents: a third of the time.
_OURS = re.compile(
    rb"POST (%s) HTTP/1\.1\r\nHost: [!-~]*\r\nAccept-Encoding: identity\r\nContent-Length: ([0-9]{1,9})\r\n"
    rb"(Connection: close\r\n)?Content-Type: application/json\r\nAuthorization: Bearer ([!-~]+)\r\n\r\n"
    % b"|".join(re.escape(path.encode()) for path in PATHS)
)
_KNOWN = frozenset(
    {"host", "authorization", "content-length", "content-type", "connection", "accept", "accept-encoding", "user-agent"}
)
_STARTS = tuple(b"POST %s HTTP/1.1\r\n" % path.encode() for path in PATHS)
_NUMBER = re.compile(r"[0-9]{1,9}\Z", re.ASCII)


class Head:
    """Of one request. size: of itself, bytes. last: the connection closes with the answer."""

    __slots__ = ("last", "length", "path", "size", "token")

    def __init__(self, size: int, path: str, length: int, token: str, last: bool) -> None:
        self.size = size
        self.path = path
        self.length = length
        self.token = token
        self.last = last


def plain_head(data: bytes | memoryview) -> Head | None:
    """The head at the beginning of ``data`` if it is one of a plain report."""
    ours = _OURS.match(data)
    if ours is None:
        return any_plain_head(data)
    path, length, close, token = ours.groups()
    size = ours.end()
    if int(length) > MAX_REPORT_BYTES:
        return None
    return Head(size, str(path, "ascii"), int(length), str(token, "ascii"), close is not None)


def any_plain_head(data: bytes | memoryview) -> Head | None:
    """As ``plain_head``, whatever the order of the fields."""
    found = _HEAD.match(data)
    if found is None:
        return None
    path, lines = str(found.group(1), "ascii"), str(found.group(2), "ascii")
    fields = {}
    for line in lines.splitlines():
        name, _colon, value = line.partition(":")
        fields[name.lower()] = value.strip()
    plain = (
        path in PATHS
        and len(fields) == lines.count("\n")
        and fields.keys() <= _KNOWN
        and "host" in fields
        and _NUMBER.match(fields.get("content-length", ""))
        and int(fields["content-length"]) <= MAX_REPORT_BYTES
        and fields.get("connection", "").lower() in ("", "close", "keep-alive")
    )
    if not plain:
        return None
    scheme, _, token = fields.get("authorization", "").partition(" ")
    token = token.strip() if scheme == "Bearer" else ""
    last = fields.get("connection", "").lower() == "close"
    return Head(found.end(), path, int(fields["content-length"]), token, last)


class Doors:
    """All connections of one server. otherwise: makes the protocol that a connection goes on with."""

    def __init__(
        self,
        intake: Intake,
        otherwise: Callable[[], asyncio.Protocol],
        read_seconds: float = READ_SECONDS,
        most_unproven: int = MOST_UNPROVEN,
        most: int | None = None,
    ) -> None:
        self.intake = intake
        self.otherwise = otherwise
        self.read_seconds = read_seconds
        self._most_unproven = most_unproven
        self._most = most_connections() if most is None else most
        self._unproven: dict[asyncio.BaseTransport, int] = {}  # bytes that each has sent so far
        self._unproven_bytes = 0
        self._doors: set[Door] = set()
        self._open: set[asyncio.BaseTransport] = set()  # of doors, and of connections that went on otherwise
        self._sweep: asyncio.Handle | None = None
        self._look_at = self._delay = 0.0
        self.buffer = memoryview(bytearray(READ_BYTES))

    def entered(self, door: Door, transport: asyncio.Transport) -> None:
        """A new connection; where there are no files left, strangers make room, and else it has to come back."""
        self._doors.add(door)
        self._open.add(transport)
        if len(self._open) > self._most and not self._close_oldest_unproven():
            transport.abort()
            return
        self.unproven(transport)
        if self._sweep is None:
            self._look_later()

    def unproven(self, transport: asyncio.BaseTransport) -> None:
        """A connection that has shown nothing; of too many the oldest is closed."""
        self._unproven[transport] = 0
        if len(self._unproven) > self._most_unproven:
            self._close_oldest_unproven()

    def holds(self, transport: asyncio.BaseTransport, size: int) -> None:
        """Of a report that is not whole so many bytes have come this way."""
        if transport not in self._unproven:
            return
        self._unproven_bytes += size - self._unproven[transport]
        self._unproven[transport] = size
        while self._unproven_bytes > MOST_UNPROVEN_BYTES:
            self._close_oldest_unproven(least=1)

    def _close_oldest_unproven(self, least: int = 0) -> bool:
        oldest = next((one for one, size in self._unproven.items() if size >= least), None)
        if isinstance(oldest, asyncio.Transport):
            self.heard(oldest)
            oldest.abort()
        return oldest is not None

    def heard(self, transport: asyncio.BaseTransport) -> None:
        """A whole report has come this way, or nothing will any more."""
        self._unproven_bytes -= self._unproven.pop(transport, 0)

    def left(self, transport: asyncio.BaseTransport | None, door: Door | None = None) -> None:
        """A connection is closed."""
        if transport is not None:
            self.heard(transport)
            self._open.discard(transport)
        if door is not None:
            self._doors.discard(door)

    def handed_over(self, door: Door) -> None:
        """A connection goes on as one of aiohttp's; what it has proven stays."""
        self._doors.discard(door)

    def close(self) -> None:
        """The server stops."""
        if self._sweep is not None:
            self._sweep.cancel()
        for door in list(self._doors):
            door.close()

    def _look(self) -> None:
        self._sweep = None
        now = time.monotonic()
        # What came while we did not look is not the client's delay.
        self._delay += max(0.0, now - self._look_at - _PUNCTUAL_SECONDS)
        for door in [door for door in self._doors if door.due + self._delay <= now]:
            door.overdue()
        if self._doors:
            self._look_later()

    def _look_later(self) -> None:
        self._look_at = time.monotonic() + SWEEP_SECONDS
        self._sweep = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._look)

    def in_seconds(self, seconds: float) -> float:
        """The ``due`` of a door that may wait for so long from now."""
        return time.monotonic() - self._delay + seconds

    def __len__(self) -> int:
        return len(self._doors)


class Door(asyncio.BufferedProtocol):
    """One connection. due: when it is closed unless something happens before (monotonic seconds)."""

    __slots__ = ("_asked", "_data", "_doors", "_head", "_transport", "due")

    def __init__(self, doors: Doors) -> None:
        self._doors = doors
        self._transport: asyncio.Transport | None = None
        self._data = b""
        self._head: Head | None = None
        self._asked: Asked | None = None
        self.due = float("inf")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.due = self._doors.in_seconds(self._doors.read_seconds)
        self._doors.entered(self, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._doors.left(self._transport, self)
        self._transport = None
        asked, self._asked = self._asked, None
        if asked is not None:
            asked.leave()

    def eof_received(self) -> bool:
        return False

    def get_buffer(self, sizehint: int) -> memoryview:
        """One for all connections: what comes is copied out at once. Each read would else make room for the most that
        may come, and leave holes in memory."""
        return self._doors.buffer

    def buffer_updated(self, nbytes: int) -> None:
        came = self._doors.buffer[:nbytes]
        if not self._data and self._asked is None and self._head is None:
            head = plain_head(came)
            if head is not None and head.size + head.length == nbytes:
                self._take(head, bytes(came[head.size :]))
                return
            self._head = head
        self._data += came
        if self._asked is not None:
            if len(self._data) > MAX_REPORT_BYTES and self._transport is not None:
                self._transport.pause_reading()
            return
        self._read()

    def _read(self) -> None:
        """Take every whole request there is, up to one whose answer has to be waited for."""
        while self._data and self._asked is None and self._transport is not None:
            if self._head is None:
                self._head = plain_head(self._data)
                if self._head is None:
                    if not self._may_become_plain():
                        self._hand_over()
                    return
            head, end = self._head, self._head.size + self._head.length
            if len(self._data) < end:
                self._doors.holds(self._transport, len(self._data))
                return
            body, self._data, self._head = self._data[head.size : end], self._data[end:], None
            self._take(head, body)

    def _may_become_plain(self) -> bool:
        data = self._data
        begun = data.startswith(_STARTS) or any(start.startswith(data) for start in _STARTS)
        return begun and len(data) <= _LONGEST_HEAD and b"\r\n\r\n" not in data

    def _take(self, head: Head, body: bytes) -> None:
        if self._transport is None:
            return
        self.due = float("inf")
        self._doors.heard(self._transport)
        answered = False

        def reply(what: bytes | Refusal) -> None:
            nonlocal answered
            answered, self._asked = True, None
            self._write(what, head.last)

        asked = self._doors.intake.take(head.path, head.token, body, reply)
        if not answered:
            self._asked = asked

    def _write(self, what: bytes | Refusal, last: bool) -> None:
        transport = self._transport
        if transport is None:
            return
        if isinstance(what, Refusal) and what.status in _NOT_BELIEVED:
            self._doors.unproven(transport)
        transport.write(answer(what, last))
        if last:
            transport.close()
        elif transport.get_write_buffer_size() > _MOST_UNREAD_ANSWERS:
            transport.abort()
        else:
            self.due = self._doors.in_seconds(self._doors.read_seconds if self._data else IDLE_SECONDS)
            if self._data:
                transport.resume_reading()
                asyncio.get_running_loop().call_soon(self._read)

    def _hand_over(self) -> None:
        transport, data = self._transport, self._data
        assert transport is not None
        self._doors.handed_over(self)
        self._transport, self._data = None, b""
        protocol = self._doors.otherwise()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        protocol.data_received(data)

    def overdue(self) -> None:
        """Nothing came for too long."""
        if self._transport is None:
            return
        if self._data:
            self._write(Refusal(408, f"the report did not arrive within {self._doors.read_seconds:.0f} s"), last=True)
        self.close()

    def close(self) -> None:
        """From our side."""
        if self._transport is not None:
            self._transport.close()


def answer(what: bytes | Refusal, last: bool) -> bytes:
    """The HTTP response."""
    close = b"Connection: close\r\n" if last else b""
    if isinstance(what, bytes):
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nDate: %s\r\n%s\r\n%s" % (
            len(what),
            _date(),
            close,
            what,
        )
    if what.retry_after is not None:
        close += b"Retry-After: %d\r\n" % what.retry_after
    body, line = what.body, f"{what.status} {HTTPStatus(what.status).phrase}".encode()
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nDate: %s\r\n%s\r\n%s" % (
        line,
        len(body),
        _date(),
        close,
        body,
    )


_dates: dict[int, bytes] = {}


def _date() -> bytes:
    """RFC 9110 wants one in each response; it is written once a second."""
    now = int(time.time())
    found = _dates.get(now)
    if found is None:
        _dates.clear()
        found = _dates[now] = formatdate(now, usegmt=True).encode()
    return found
