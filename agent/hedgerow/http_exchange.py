"""One HTTP request on a connection of its own: no proxies, bounded waits, and it can be cut from another thread."""

from __future__ import annotations

import http.client
import json
import socket
import urllib.parse
from typing import Any, Callable, Dict, Optional

CONNECT_SECONDS = 5.0
_LONGEST_ANSWER = 4 * 1024 * 1024


class Refused(Exception):
    """The server answered with an error; the text is its own sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__("%d %s" % (status, sentence))
        self.status = status


class Exchange:
    """A request that has not been answered yet."""

    def __init__(self, url: str, ca_file: str = "", connect_seconds: float = CONNECT_SECONDS) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("%r is no address; expected one like http://HOST:PORT" % url)
        self._prefix = parts.path.rstrip("/")
        self._connection = _connection(parts, ca_file, connect_seconds)
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

        answer_seconds: longest silence of the server once connected. sent: called once the request is out.
        """
        try:
            self._connection.connect()
            sock: Any = self._connection.sock
            sock.settimeout(answer_seconds)
            if self._cut:
                raise ConnectionAbortedError("cut before it was sent")
            self._connection.request(method, self._prefix + path, body=body, headers=_headers(body, token))
            sent()
            response = self._connection.getresponse()
            data = response.read(_LONGEST_ANSWER)
        finally:
            self._connection.close()
        if response.status != 200:
            raise Refused(response.status, _sentence(data) or response.reason)
        return data

    def cut(self) -> None:
        """End it from another thread; the waiting one gets an OSError or HTTPException at once."""
        self._cut = True
        sock: Any = self._connection.sock
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except (OSError, ValueError):
                pass


def _connection(parts: Any, ca_file: str, connect_seconds: float) -> http.client.HTTPConnection:
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=connect_seconds)
    import ssl  # here, because small Pythons lack it and most operators speak plain HTTP inside the cluster

    context = ssl.create_default_context(cafile=ca_file or None)
    return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=connect_seconds, context=context)


def _headers(body: Optional[bytes], token: str) -> Dict[str, str]:
    headers = {"Connection": "close"}
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
