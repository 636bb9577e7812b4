"""Keep a pod away from nodes, whatever affinity the user has asked for."""

from __future__ import annotations

from typing import Any

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def avoid_nodes(affinity: dict[str, Any] | None, nodes: tuple[str, ...]) -> dict[str, Any] | None:
    """The affinity, with none of ``nodes`` allowed any more.

    Terms are alternatives, so each of them gets the exclusion. It is by the node's own name: the hostname label may
    say something else. A field requirement takes one value (Kubernetes API, NodeSelectorTerm), so there is one a node.
    """
    if not nodes:
        return affinity
    outside = [{"key": "metadata.name", "operator": "NotIn", "values": [node]} for node in sorted(nodes)]
    whole = affinity or {}
    node_affinity = whole.get("nodeAffinity") or {}
    terms = (node_affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    narrowed = [{**term, "matchFields": [*(term.get("matchFields") or []), *outside]} for term in terms]
    return {**whole, "nodeAffinity": {**node_affinity, REQUIRED: {"nodeSelectorTerms": narrowed}}}
