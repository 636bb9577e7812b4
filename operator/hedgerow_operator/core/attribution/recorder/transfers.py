"""Point-to-point entries: which two global ranks they join."""

import re
from collections.abc import Mapping
from typing import Any

from hedgerow_operator.core.attribution.recorder.dump import Group, Transfer
from hedgerow_operator.core.attribution.recorder.fields import integer, text
from hedgerow_operator.core.attribution.recorder.groups import is_default

# As in "nccl:send 0->1" and "nccl:recv 0<-8": local rank, arrow, the peer's local rank.
_NAME = re.compile(r"(send|recv) (\d{1,9})(?:->|<-)(\d{1,9})")


def is_transfer(entry: Mapping[Any, Any]) -> bool:
    """Whether an entry is point to point; dumps of the first versions tell it by name only."""
    told = entry.get("is_p2p")
    return told if isinstance(told, bool) else _NAME.search(text(entry.get("profiling_name"))) is not None


def transfer_of(entry: Mapping[Any, Any], group: Group, rank: int) -> list[Transfer]:
    """The transfer, or nothing if the entry does not say between whom (a coalesced one does not)."""
    match = _NAME.search(text(entry.get("profiling_name")))
    if match is None:
        return []
    peer = _global(group, int(match[3]))
    if peer is None or peer == rank:
        return []
    return [
        Transfer(
            group=group.key,
            sends=match[1] == "send",
            peer=peer,
            order=integer(entry.get("record_id", entry.get("id"))),
            seq=integer(entry.get("p2p_seq_id")),
        )
    ]


def _global(group: Group, local: int) -> int | None:
    if local < len(group.members):
        return group.members[local]
    return local if is_default(group) and not group.members else None
