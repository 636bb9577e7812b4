"""Events about our objects for people; the same one again raises a count instead of making another."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.api.conditions import shorten
from hedgerow_operator.api.labels import API_VERSION, FIELD_MANAGER
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.plan import Event

# Where Kubernetes keeps events about what is in no namespace.
DEFAULT_NAMESPACE = "default"


class Subject(NamedTuple):
    """The object that an event is about. namespace: empty for one that is in none."""

    kind: str
    namespace: str
    name: str
    uid: str


class Recorder:
    """Writes core/v1 events. Their names follow from what they say, so counting survives a restart of the operator."""

    def __init__(self, api: Api, clock: Callable[[], float]) -> None:
        self._api = api
        self._clock = clock

    async def record(self, subject: Subject, event: Event) -> None:
        """Create the event, or count it once more. May raise Unreachable and Rejected."""
        body = event_object(subject, event, self._clock())
        collection = paths.events(body["metadata"]["namespace"])
        try:
            await self._api.create(collection, body)
        except Rejected as error:
            if error.reason != "AlreadyExists":
                raise
            await self._count(f"{collection}/{body['metadata']['name']}", body)

    async def _count(self, path: str, body: Fields) -> None:
        known = await self._api.get(path)
        count = (known.get("count") or 1) + 1
        await self._api.merge(path, {"count": count, "lastTimestamp": body["lastTimestamp"]})


def event_object(subject: Subject, event: Event, now: float) -> Fields:
    """The core/v1 Event about ``subject``; ``now``: seconds since the epoch."""
    kind = "Warning" if event.warning else "Normal"
    message = shorten(event.message)
    said = "\0".join((subject.uid, kind, event.reason, message))
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    moment = format_time(now)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{subject.name}.{digest}", "namespace": subject.namespace or DEFAULT_NAMESPACE},
        "involvedObject": {
            "apiVersion": API_VERSION,
            **{name: value for name, value in subject._asdict().items() if value},
        },
        "type": kind,
        "reason": event.reason,
        "message": message,
        "count": 1,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "source": {"component": FIELD_MANAGER},
        "reportingComponent": FIELD_MANAGER,
        "reportingInstance": FIELD_MANAGER,
    }
