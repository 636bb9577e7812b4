"""Which ranks on this node would compute on which fake GPU: by their LOCAL_RANK, as they would choose a real one."""

from typing import NamedTuple

from hedgerow_agent.host.base import names, text


class _Rank(NamedTuple):
    parent: int
    job: str
    rank: str
    local_rank: str


def by_gpu(root: str, gpus: int) -> dict[int, list[int]]:
    """GPU index -> PIDs of ranks. What a rank itself started (loaders of data) is not on a GPU. root: of /proc."""
    ranks = {int(pid): found for pid in names(root, "/proc") if pid.isdigit() and (found := _rank(root, pid))}
    chosen: dict[int, list[int]] = {}
    for pid, rank in sorted(ranks.items()):
        above = ranks.get(rank.parent)
        if gpus and rank.local_rank.isdigit() and (above is None or above[1:] != rank[1:]):
            chosen.setdefault(int(rank.local_rank) % gpus, []).append(pid)
    return chosen


def _rank(root: str, pid: str) -> _Rank | None:
    entries = (text(root, f"/proc/{pid}/environ") or "").split("\0")
    words = dict(entry.split("=", 1) for entry in entries if "=" in entry)
    if "RANK" not in words or "HEDGEROW_JOB_UID" not in words:
        return None
    fields = (text(root, f"/proc/{pid}/stat") or "").rpartition(")")[2].split()
    parent = int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 0
    return _Rank(parent, words["HEDGEROW_JOB_UID"], words["RANK"], words.get("LOCAL_RANK", ""))
