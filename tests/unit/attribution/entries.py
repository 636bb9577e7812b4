"""Dumps of a few entries, written out by hand."""

from typing import Any

from hedgerow_operator.core.attribution.recorder.dump import RankDump
from hedgerow_operator.core.attribution.recorder.read import read_dump


def entry(seq: int, name: str = "nccl:all_reduce", state: str = "scheduled", **others: Any) -> dict[str, Any]:
    """An entry of the default group, as PyTorch 2.4 and later write it."""
    return {
        "record_id": seq,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": seq,
        "p2p_seq_id": 0,
        "profiling_name": name,
        "state": state,
        "is_p2p": False,
        "input_sizes": [[16]],
        "input_dtypes": ["Float"],
        "output_sizes": [[16]],
        "output_dtypes": ["Float"],
    } | others


def dump(rank: int, *entries: dict[str, Any], world: int = 4, groups: dict[str, list[int]] | None = None) -> RankDump:
    """The dump of a rank; ``groups``: further groups by name."""
    members = {"0": list(range(world)), **(groups or {})}
    return read_dump(
        {
            "version": "2.4",
            "pg_config": {
                name: {"name": name, "desc": "default_pg" if name == "0" else f"group {name}", "ranks": str(ranks)}
                for name, ranks in members.items()
                if rank in ranks
            },
            "entries": list(entries),
        },
        rank,
    )
