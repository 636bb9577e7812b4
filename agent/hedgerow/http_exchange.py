"""HTTP requests without proxies and with bounded waits; one can be cut from another thread."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import urllib.parse
from typing import Any, Callable, Dict, Optional

from hedgerow.kept_connection import LIFE_SECONDS, KeptConnection, Key, Line
from hedgerow.machine import boottime

CONNECT_SECONDS = 5.0
_LONGEST_ANSWER = 4 * 1024 * 1024
_PIECE = 64 * 1024


class Refused(Exception):
    """The server answered with an error; the text is its own sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__("%d %s" % (status, sentence))
        self.status = status


class Exchange:
    """A request that has not been answered yet.

    kept: where a connection of an earlier request may wait, and this one's afterwards; None: one of its own.
    """

    def __init__(
        self,
        url: str,
        ca_file: str = "",
        connect_seconds: float = CONNECT_SECONDS,
        kept: Optional[KeptConnection] = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("%r is no address; expected one like http://HOST:PORT" % url)
        self._prefix = parts.path.rstrip("/")
        self._key = Key(parts.scheme, parts.hostname, parts.port, ca_file)
        self._connect_seconds = connect_seconds
        self._kept = kept
        self._lock = threading.Lock()
        self._connection: Optional[http.client.HTTPConnection] = None
        self._cut = False

    def request(
        self,
        method: str,
        path: str,
        body: Optional[bytes],
        token: str,
        answer_seconds: float,
        sent: Callable[[], None] = lambda: None,
    ) -> bytes:
        """The body of the answer; OSError or HTTPException when there is none, Refused when it is an error.

        answer_seconds: longest silence of the server once connected. sent: called once the request is out; twice where
        it has to go out again, since the kept connection turned out to be closed. So it must be one that may be heard
        twice.
        """
        headers = _headers(body, token, self._kept is not None)
        asked = (method, self._prefix + path, body, headers)
        waiting = None if self._kept is None else self._kept.take(self._key)
        if waiting is not None:
            try:
                return self._ask(waiting, asked, answer_seconds, sent)
            except OSError as error:
                if self._cut or _took_too_long(error):
                    raise
        new = Line(_connection(self._key, self._connect_seconds), boottime() + LIFE_SECONDS)
        return self._ask(new, asked, answer_seconds, sent)

    def _ask(self, line: Line, asked: Any, answer_seconds: float, sent: Callable[[], None]) -> bytes:
        connection = self._connection = line.connection
        usable = False
        try:
            if connection.sock is None:
                connection.connect()
            sock: Any = connection.sock
            sock.settimeout(answer_seconds)
            if self._kept is not None:
                _give_up_unacknowledged(sock, self._connect_seconds)
            if self._cut:
                raise ConnectionAbortedError("cut before it was sent")
            connection.request(*asked)
            sent()
            response = connection.getresponse()
            data = _read(response)
            # After an error another server may be the one to ask, as after a change of the leader.
            usable = response.status == 200 and response.isclosed() and connection.sock is not None
        finally:
            self._leave(line, usable)
        if response.status != 200:
            raise Refused(response.status, _sentence(data) or response.reason)
        return data

    def _leave(self, line: Line, usable: bool) -> None:
        with self._lock:
            self._connection = None
            usable = usable and not self._cut
        if usable and self._kept is not None:
            self._kept.give(self._key, line)
        else:
            line.connection.close()

    def cut(self) -> None:
        """End it from another thread; the waiting one gets an OSError or HTTPException at once."""
        with self._lock:
            self._cut = True
            sock: Any = None if self._connection is None else self._connection.sock
            if sock is not None:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except (OSError, ValueError):
                    pass


def _connection(key: Key, connect_seconds: float) -> http.client.HTTPConnection:
    if key.scheme == "http":
        return http.client.HTTPConnection(key.host, key.port, timeout=connect_seconds)
    import ssl  # here, because small Pythons lack it and most operators speak plain HTTP inside the cluster

    context = ssl.create_default_context(cafile=key.ca_file or None)
    return http.client.HTTPSConnection(key.host, key.port, timeout=connect_seconds, context=context)


def _give_up_unacknowledged(sock: Any, seconds: float) -> None:
    """A peer that vanished without a word (its node died, the network fell apart) is noticed as soon as on connecting:
    what is sent must be acknowledged within so long (tcp(7), TCP_USER_TIMEOUT), whoever answers it when.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        sock.setsockopt(socket.IPPROTO_TCP, option, int(1000 * seconds))


def _took_too_long(error: OSError) -> bool:
    """Whether our own patience ended; what the kernel tells of a dead connection has a number."""
    return isinstance(error, socket.timeout) and error.errno is None


def _read(response: http.client.HTTPResponse) -> bytes:
    """The body, by pieces: ``read`` of older Pythons reserves all that it is allowed to bring."""
    pieces = []
    left = _LONGEST_ANSWER
    while left > 0:
        piece = response.read(min(left, _PIECE))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _headers(body: Optional[bytes], token: str, keep: bool) -> Dict[str, str]:
    headers = {} if keep else {"Connection": "close"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if token:
        headers["Authorization"] = "Bearer " + token
    return headers


def _sentence(data: bytes) -> str:
    """The server's explanation: a JSON object's ``message`` or ``error``, else the text itself."""
    text = data[:2000].decode("utf-8", "replace").strip()
    try:
        fields = json.loads(text)
    except ValueError:
        return text.splitlines()[0] if text else ""
    if isinstance(fields, dict):
        return str(fields.get("message") or fields.get("error") or "")
    return str(fields)
