"""Nodes from the JSON of `sinfo --json` before 23.02 and of slurmrestd, 21.08 to today."""

from collections.abc import Mapping
from typing import Any

from hedgerow_operator.core.slurm import values
from hedgerow_operator.core.slurm.seen import SlurmNode
from hedgerow_operator.core.slurm.state_words import node_state


def read_nodes(document: Any) -> tuple[SlurmNode, ...]:
    """Every node of an answer. One without a name is left out; whatever else is wrong costs that value."""
    entries = document.get("nodes") if isinstance(document, Mapping) else None
    known = [entry for entry in values.items(entries) if isinstance(entry, Mapping) and values.text(entry.get("name"))]
    return tuple(read_node(entry) for entry in known)


def read_node(entry: Mapping[str, Any]) -> SlurmNode:
    """One node."""
    shown = entry.get("state")
    state, flags = node_state(shown if isinstance(shown, str | list) else "", values.items(entry.get("state_flags")))
    return SlurmNode(
        name=values.text(entry.get("name")),
        state=state,
        flags=flags,
        reason=values.text(entry.get("reason")),
        reason_user=values.text(entry.get("reason_set_by_user")),
        address=values.text(entry.get("address")),
        gres=values.text(entry.get("gres")),
        partitions=values.hosts(values.items(entry.get("partitions"))),
    )
