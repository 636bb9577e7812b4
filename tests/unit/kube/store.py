"""A stand-in for adapters.kube.api.Api: a dict of objects with resourceVersions, and ways to fail."""

from __future__ import annotations

import builtins
import copy
from collections.abc import AsyncIterator
from typing import Any

from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.reconcile.ports import Unreachable

Fields = dict[str, Any]


class Store:
    """Objects by path. calls: what was asked, in order. failing: raised instead of the next answers."""

    def __init__(self) -> None:
        self.objects: dict[str, Fields] = {}
        self.calls: list[tuple[str, str]] = []
        self.failing: Exception | None = None
        self.review: Fields = {}
        self.deleted: list[tuple[str, str, int | None, str]] = []
        self._version = 0

    def put(self, path: str, fields: Fields) -> Fields:
        """Store the object whoever has changed it before."""
        self._version += 1
        metadata = {**fields.get("metadata", {}), "resourceVersion": str(self._version)}
        self.objects[path] = {**copy.deepcopy(fields), "metadata": metadata}
        return copy.deepcopy(self.objects[path])

    async def find(self, path: str) -> Fields | None:
        self._called("GET", path)
        return copy.deepcopy(self.objects.get(path))

    async def get(self, path: str) -> Fields:
        found = await self.find(path)
        if found is None:
            raise Rejected(404, "NotFound", f"{path} not found")
        return found

    async def create(self, path: str, body: Fields) -> Fields:
        self._called("POST", path)
        if path.endswith("/tokenreviews"):
            return {"status": self.review}
        whole = f"{path}/{body['metadata']['name']}"
        if whole in self.objects:
            raise Rejected(409, "AlreadyExists", f"{whole} already exists")
        return self.put(whole, body)

    async def replace(self, path: str, body: Fields) -> Fields:
        self._called("PUT", path)
        known = self.objects.get(path)
        if known is None:
            raise Rejected(404, "NotFound", f"{path} not found")
        if body["metadata"].get("resourceVersion") != known["metadata"]["resourceVersion"]:
            raise Rejected(409, "Conflict", f"{path} has changed")
        return self.put(path, body)

    async def merge(self, path: str, patch: Fields) -> Fields:
        self._called("PATCH", path)
        known = self.objects[path]
        version = (patch.get("metadata") or {}).get("resourceVersion")
        if version not in (None, known["metadata"]["resourceVersion"]):
            raise Rejected(409, "Conflict", f"{path} has changed")
        return self.put(path, merged(known, patch))

    async def list(self, path: str, labels: str = "", fields: str = "") -> list[Fields]:
        self._called("LIST", path)
        inside = [entry for place, entry in self.objects.items() if place.rpartition("/")[0] == path]
        pairs = [pair.partition("=") for pair in labels.split(",") if pair]
        return copy.deepcopy(
            [
                entry
                for entry in inside
                if all((entry["metadata"].get("labels") or {}).get(key) == value for key, _, value in pairs)
            ]
        )

    async def pages(self, path: str, labels: str = "", fields: str = "") -> AsyncIterator[builtins.list[Fields]]:
        for entry in await self.list(path, labels, fields):
            yield [entry]

    async def delete(self, path: str, *, uid: str, grace_seconds: int | None = None, propagation: str = "") -> None:
        self._called("DELETE", path)
        self.deleted.append((path.rpartition("/")[2], uid, grace_seconds, propagation))

    def _called(self, verb: str, path: str) -> None:
        self.calls.append((verb, path))
        if self.failing is not None:
            raise self.failing


def merged(target: Fields, patch: Fields) -> Fields:
    """RFC 7396."""
    result = dict(target)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = merged(result.get(name) or {}, value)
        else:
            result[name] = value
    return result


OUTAGE = Unreachable("the API server is away")
