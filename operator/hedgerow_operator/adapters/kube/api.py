"""Plain calls to the API server: dicts in, dicts out, and three kinds of failure."""

from __future__ import annotations

import builtins
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
from kubernetes.aio.client import ApiClient

from hedgerow_operator.api.labels import FIELD_MANAGER
from hedgerow_operator.reconcile.ports import Unreachable

TIMEOUT = aiohttp.ClientTimeout(total=10)
PAGE_SIZE = 500
MERGE_PATCH = "application/merge-patch+json"
# 401: our own token has run out or is not known yet, which says nothing about the object. The rest is overload.
NOTHING_LEARNED = frozenset({401, 408, 425, 429})

Fields = dict[str, Any]


class Rejected(Exception):
    """The API server answered and said no. reason: of its Status (NotFound, AlreadyExists, Invalid …)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class Api:
    """One connection to the API server. may_write: asked right before each request that changes something.

    Every method may raise Unreachable (nothing was learned) and Rejected (the server said no).
    """

    def __init__(
        self,
        client: ApiClient,
        may_write: Callable[[], bool] = lambda: True,
        timeout: aiohttp.ClientTimeout = TIMEOUT,
    ) -> None:
        self._client = client
        self._may_write = may_write
        self._timeout = timeout

    async def get(self, path: str) -> Fields:
        """The object at ``path``, read from the store itself rather than from a cache."""
        return await self._call("GET", path)

    async def find(self, path: str) -> Fields | None:
        """As :meth:`get`, and None when there is no such object."""
        try:
            return await self.get(path)
        except Rejected as error:
            if error.status == 404:
                return None
            raise

    async def list(self, path: str, labels: str = "", fields: str = "") -> list[Fields]:
        """Every object of the collection at ``path`` that both selectors select; one consistent snapshot."""
        items: list[Fields] = []
        async for page in self.pages(path, labels, fields):
            items += page
        return items

    async def pages(self, path: str, labels: str = "", fields: str = "") -> AsyncIterator[builtins.list[Fields]]:
        """As :meth:`list`, a part at a time: where there are many, they need not be held at once."""
        selectors = {"labelSelector": labels, "fieldSelector": fields}
        query = {name: text for name, text in selectors.items() if text} | {"limit": str(PAGE_SIZE)}
        while True:
            page = await self._call("GET", path, query=query)
            yield page.get("items") or []
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return
            query = {**query, "continue": token}

    async def changes(self, path: str, seconds: int) -> AsyncIterator[None]:
        """Once for what is there, and whenever something of the collection changes, until the server ends it."""
        query = [("watch", "1"), ("timeoutSeconds", str(seconds))]
        try:
            request = await self._client.param_serialize(
                "GET", path, query_params=query, header_params={"Accept": "application/json"},
                auth_settings=["BearerToken"],
            )
            timeout = aiohttp.ClientTimeout(total=seconds + 30)
            response = await self._client.call_api(*request[:3], _request_timeout=timeout)
            if response.status != 200:
                data: bytes = await response.read()  # type: ignore[no-untyped-call]
                _answer("GET", path, response.status, data)
            try:
                async for _chunk in response.response.content.iter_any():
                    yield
            finally:
                response.response.close()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unreachable(f"the watch of {path} broke off: {_words(error)}") from error

    async def create(self, path: str, body: Fields) -> Fields:
        """The object as created in the collection at ``path``."""
        return await self._write("POST", path, body=body, query={"fieldManager": FIELD_MANAGER})

    async def replace(self, path: str, body: Fields) -> Fields:
        """The object as stored; Rejected with status 409 when ``body`` carries an old resourceVersion."""
        return await self._write("PUT", path, body=body, query={"fieldManager": FIELD_MANAGER})

    async def merge(self, path: str, patch: Fields) -> Fields:
        """The object after a JSON merge patch (RFC 7396)."""
        query = {"fieldManager": FIELD_MANAGER}
        return await self._write("PATCH", path, body=patch, query=query, content_type=MERGE_PATCH)

    async def delete(self, path: str, *, uid: str, grace_seconds: int | None = None, propagation: str = "") -> None:
        """Ask the object of this uid to go; gone already, or another one of its name, is fine."""
        options: Fields = {"preconditions": {"uid": uid}}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if propagation:
            options["propagationPolicy"] = propagation
        try:
            await self._write("DELETE", path, body=options)
        except Rejected as error:
            if error.status not in (404, 409):
                raise

    async def _write(
        self, method: str, path: str, *, body: Fields, query: dict[str, str] | None = None, content_type: str = ""
    ) -> Fields:
        if not self._may_write():
            raise Unreachable("this operator does not hold the lease (any more), so it changes nothing")
        return await self._call(method, path, body=body, query=query, content_type=content_type)

    async def _call(
        self,
        method: str,
        path: str,
        *,
        body: Fields | None = None,
        query: dict[str, str] | None = None,
        content_type: str = "",
        accept: str = "application/json",
    ) -> Fields:
        headers = {"Accept": accept, "Content-Type": content_type or "application/json"}
        parameters = list((query or {}).items())
        try:
            request = await self._client.param_serialize(
                method, path, query_params=parameters, header_params=headers, auth_settings=["BearerToken"]
            )
            response = await self._client.call_api(*request[:3], body=body, _request_timeout=self._timeout)
            data: bytes = await response.read()  # type: ignore[no-untyped-call]
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unreachable(f"the Kubernetes API server did not answer {method} {path}: {_words(error)}") from error
        return _answer(method, path, response.status, data)


def _answer(method: str, path: str, status: int, data: bytes) -> Fields:
    try:
        fields: Any = json.loads(data)
    except ValueError:
        fields = None
    if 200 <= status < 300 and isinstance(fields, dict):
        return fields
    said = fields if isinstance(fields, dict) else {}
    message = said.get("message") or f"HTTP {status}"
    if 400 <= status < 500 and status not in NOTHING_LEARNED and isinstance(fields, dict):
        raise Rejected(status, said.get("reason") or "", message)
    raise Unreachable(f"the Kubernetes API server could not answer {method} {path}: {message}")


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
