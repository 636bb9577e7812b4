"""A stand-in for adapters.kube.inquiry.Inquiry: objects by path, rights, and what the server has against something."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.adapters.kube.api import Rejected
from tests.unit.kube.store import Fields, Store


class Cluster(Store):
    """refused: path to what the server says against it. denied: VERB RESOURCE that the user may not.

    outcome: phase, and termination message, of pods that are created.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[str, Rejected] = {}
        self.denied: set[str] = set()
        self.outcome: tuple[str, str] = ("Succeeded", "")
        self.tried: list[Fields] = []
        self.created: list[Fields] = []

    async def find(self, path: str) -> Fields | None:
        self._refuse(path)
        return await super().find(path)

    async def list(self, path: str, labels: str = "", fields: str = "") -> list[Fields]:
        self._refuse(path)
        return await super().list(path, labels, fields)

    async def create(self, path: str, body: Fields) -> Fields:
        self._refuse(path)
        self.created.append(body)
        phase, message = self.outcome
        ended = {"state": {"terminated": {"message": message}}}
        status = {"phase": phase, "containerStatuses": [ended if phase == "Failed" else {}]}
        metadata = {**body["metadata"], "uid": "1"}
        return await super().create(path, {**body, "metadata": metadata, "status": status})

    async def would_apply(self, path: str, body: Fields) -> Fields:
        return self._try(path, body)

    async def would_create(self, path: str, body: Fields) -> Fields:
        return self._try(path, body)

    async def may(self, namespace: str, verb: str, group: str, resource: str) -> bool:
        return f"{verb} {resource}" not in self.denied

    async def metadata(self, path: str) -> Fields:
        found: Any = (await self.get(path))["metadata"]
        return dict(found)

    def _try(self, path: str, body: Fields) -> Fields:
        self._refuse(path)
        self.tried.append(body)
        return body

    def _refuse(self, path: str) -> None:
        if path in self.refused:
            raise self.refused[path]
