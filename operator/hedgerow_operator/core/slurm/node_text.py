"""Nodes from what sinfo prints, for a Slurm that was built without JSON."""

from collections.abc import Mapping, Sequence

from hedgerow_operator.core.slurm import records
from hedgerow_operator.core.slurm.seen import SlurmNode
from hedgerow_operator.core.slurm.state_words import node_state, nothing_as_empty

SINFO_FIELDS = ("NodeList", "StateComplete", "User", "NodeAddr", "Gres", "PartitionName", "Reason")


def read_sinfo(text: str) -> tuple[SlurmNode, ...]:
    """Every node of ``sinfo --noheader --Node --Format=records.format_of(SINFO_FIELDS)``: a line a partition."""
    rows: dict[str, list[Mapping[str, str]]] = {}
    for row in records.read(text, SINFO_FIELDS, records.FIELD_END, records.RECORD_END):
        rows.setdefault(row["NodeList"], []).append(row)
    return tuple(_node(name, lines) for name, lines in rows.items() if name)


def _node(name: str, rows: Sequence[Mapping[str, str]]) -> SlurmNode:
    row = rows[0]
    state, flags = node_state(row["StateComplete"])
    user = nothing_as_empty(row["User"])
    return SlurmNode(
        name=name,
        state=state,
        flags=flags,
        reason=nothing_as_empty(row["Reason"]),
        reason_user="" if user == "Unknown" else user,
        address=row["NodeAddr"],
        gres=nothing_as_empty(row["Gres"]),
        partitions=tuple(line["PartitionName"] for line in rows if line["PartitionName"]),
    )
