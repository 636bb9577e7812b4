"""Our taints on nodes. Whatever else is on a node goes back as it was read, guarded by the resourceVersion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.api.labels import (
    ANNOTATION_TAINT_CAUSE,
    ANNOTATION_TAINT_UNTIL,
    LABEL_TAINTED,
    TAINT_QUARANTINED,
)
from hedgerow_operator.api.times import format_time, parse_time
from hedgerow_operator.core.nodes.taints import Mark
from hedgerow_operator.reconcile.ports import Conflict, Unreachable

EFFECT = "NoSchedule"
MARKED = "true"
# The API server refuses a longer value of a taint.
MAX_VALUE = 63


def mark_of(node: Fields) -> Mark | None:
    """Our mark on a node; None: it has none, or only a part of it, which somebody else has put there."""
    metadata = node["metadata"]
    cause = (metadata.get("annotations") or {}).get(ANNOTATION_TAINT_CAUSE)
    if (metadata.get("labels") or {}).get(LABEL_TAINTED) != MARKED or not cause:
        return None
    until = (metadata.get("annotations") or {}).get(ANNOTATION_TAINT_UNTIL) or ""
    try:
        moment: float | None = parse_time(until)
    except ValueError:
        moment = None
    return Mark(cause=cause, until=moment, tainted=len(_others(node)) < len(_taints(node)))


def _taints(node: Fields) -> list[Fields]:
    return (node.get("spec") or {}).get("taints") or []


def _others(node: Fields) -> list[Fields]:
    return [entry for entry in _taints(node) if (entry.get("key"), entry.get("effect")) != (TAINT_QUARANTINED, EFFECT)]


class KubeNodeTaints:
    """Implements reconcile.taints.NodeTaints."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def marks(self) -> Mapping[str, Mark]:
        try:
            found = await self._api.list(paths.NODES, f"{LABEL_TAINTED}={MARKED}")
        except Rejected as error:
            raise Unreachable(f"nodes cannot be listed: {error}") from error
        return {node["metadata"]["name"]: mark for node in found if (mark := mark_of(node)) is not None}

    async def taint(self, name: str, quarantine: Quarantine, until: float) -> None:
        node = await self._node(name)
        if node is None or mark_of(node) is not None or len(_others(node)) < len(_taints(node)):
            return
        ours = {"key": TAINT_QUARANTINED, "value": quarantine.reason[:MAX_VALUE], "effect": EFFECT}
        await self._patch(
            node,
            [*_taints(node), ours],
            labels={LABEL_TAINTED: MARKED},
            annotations={ANNOTATION_TAINT_CAUSE: quarantine.since, ANNOTATION_TAINT_UNTIL: format_time(until)},
        )

    async def release(self, name: str) -> None:
        node = await self._node(name)
        if node is not None and mark_of(node) is not None:
            await self._patch(node, _others(node))

    async def clear(self, name: str) -> None:
        node = await self._node(name)
        if node is not None and mark_of(node) is not None:
            nothing = {ANNOTATION_TAINT_CAUSE: None, ANNOTATION_TAINT_UNTIL: None}
            await self._patch(node, _others(node), labels={LABEL_TAINTED: None}, annotations=nothing)

    async def _node(self, name: str) -> Fields | None:
        try:
            return await self._api.find(paths.node(name))
        except Rejected as error:
            raise Unreachable(f"node {name} cannot be read: {error}") from error

    async def _patch(self, node: Fields, taints: list[Fields], **metadata: dict[str, Any]) -> None:
        name, version = node["metadata"]["name"], node["metadata"]["resourceVersion"]
        patch = {"metadata": {"resourceVersion": version, **metadata}, "spec": {"taints": taints}}
        try:
            await self._api.merge(paths.node(name), patch)
        except Rejected as error:
            if error.status in (404, 409):
                raise Conflict(str(error)) from error
            raise Unreachable(f"the taints of node {name} cannot be changed: {error}") from error
