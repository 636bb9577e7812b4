"""A few direct calls to the API server: polling by kubectl would cost a tenth of a second of CPU each time."""

import http.client
import json
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.cluster.testbed.errors import ClusterError

TIMEOUT_SECONDS = 10


class Api:
    """The API server at `host`, as the administrator whose certificate is in `folder`.

    Connections are kept: another handshake for every look costs both sides more than the look.
    """

    def __init__(self, host: str, folder: Path) -> None:
        self._host = host
        self._tls = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        self._tls.load_cert_chain(folder / "admin.crt", folder / "admin.key")
        self._idle: list[http.client.HTTPSConnection] = []

    def get(self, path: str) -> Any:
        """The JSON at `path`; None when there is no such object."""
        status, text = self._call("GET", path, None, "")
        if status == http.HTTPStatus.NOT_FOUND:
            return None
        return json.loads(_checked(status, text, path))

    def patch_status(self, path: str, change: object) -> None:
        """Merge `change` into the status of the object at `path`."""
        body = json.dumps({"status": change})
        _checked(*self._call("PATCH", f"{path}/status", body, "application/merge-patch+json"), path)

    def close(self) -> None:
        """Keep no connection any more."""
        while self._idle:
            self._idle.pop().close()

    def ready(self) -> bool:
        """Whether the server answers and calls itself ready."""
        try:
            return self._call("GET", "/readyz", None, "")[0] == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False

    def _call(self, method: str, path: str, body: str | None, content: str) -> tuple[int, str]:
        try:
            kept = self._idle.pop()
        except IndexError:
            kept = None
        if kept is not None:
            # A server that has begun anew meanwhile knows nothing of it.
            with suppress(ConnectionError, http.client.HTTPException):
                return self._exchange(kept, method, path, body, content)
        fresh = http.client.HTTPSConnection(self._host, timeout=TIMEOUT_SECONDS, context=self._tls)
        return self._exchange(fresh, method, path, body, content)

    def _exchange(
        self, connection: http.client.HTTPSConnection, method: str, path: str, body: str | None, content: str
    ) -> tuple[int, str]:
        try:
            connection.request(method, path, body, {"Content-Type": content} if body else {})
            answer = connection.getresponse()
            text = answer.read().decode()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return answer.status, text


def _checked(status: int, text: str, path: str) -> str:
    if status >= http.HTTPStatus.BAD_REQUEST:
        raise ClusterError(f"The API server answered {status} for {path}: {text[:300]}")
    return text
