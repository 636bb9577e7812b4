"""What every Kubernetes object carries in ``metadata``."""

from __future__ import annotations

from typing import Any

import msgspec

from hedgerow_operator.api.model import Model

DEFAULT_NAMESPACE = "default"


class ObjectMeta(Model, frozen=True, kw_only=True):
    """The fields that are read or must survive a round trip; ``managedFields`` is dropped. Times are RFC 3339."""

    name: str
    namespace: str = DEFAULT_NAMESPACE
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[dict[str, Any], ...] = ()
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
