"""NCCL's RAS report as ``ncclras -f json`` prints it (from NCCL 2.28.7 on): all counts, and nothing judged.

Fields: NCCL user guide, troubleshooting, RAS. Ranks are numbered within their communicator.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent

# Stands near the start of a report.
MARK = "nccl_version"
# Some versions forget the comma after the last value of a missing rank.
_FORGOTTEN_COMMA = re.compile(r'([\d"elE\]}])(\s*\n\s*)("[^"\n]{1,64}"\s*:)')


def ras_events(text: str) -> list[LogEvent] | None:
    """The events of a report; None if ``text`` is none. Never raises."""
    communicators = _object(text).get("communicators")
    if not isinstance(communicators, list):
        return None
    return [event for entry in communicators if isinstance(entry, dict) for event in _events(entry, text)]


def _object(text: str) -> dict[str, Any]:
    for attempt in (text, _FORGOTTEN_COMMA.sub(r"\1,\2\3", text)):
        try:
            found = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else {}
    return {}


def _events(communicator: dict[str, Any], text: str) -> Iterator[LogEvent]:
    name = str(communicator.get("hash", ""))
    line = text.count("\n", 0, max(0, text.find(f'"{name}"'))) + 1
    missing = _ranks(communicator, "missing_ranks")
    for rank in missing:
        if rank.get("status", {}).get("considered_dead") is True:
            yield _dead(rank, line)
    op, furthest, behind = _furthest_apart(_ranks(communicator, "ranks"))
    late = sorted({*behind, *(rank["rank"] for rank in missing)})
    if late:
        yield LogEvent(kind=EventKind.COLLECTIVE_MISMATCH, group=name or None, op=op, seq=furthest, line=line,
                       text=f"communicator {name} of NCCL RAS", details={"missing": late, "oneLook": True})


def _ranks(communicator: dict[str, Any], field: str) -> list[dict[str, Any]]:
    listed = communicator.get(field)
    ranks = [rank for rank in listed if isinstance(rank, dict)] if isinstance(listed, list) else []
    return [{**rank, "status": rank["status"] if isinstance(rank.get("status"), dict) else {}}
            for rank in ranks if type(rank.get("rank")) is int]


def _furthest_apart(ranks: list[dict[str, Any]]) -> tuple[str | None, int | None, list[int]]:
    """The operation in which the counts of ranks differ most: its name, the highest count, and who is behind."""
    counts: dict[str, dict[int, int]] = {}
    for rank in ranks:
        told = rank.get("collective_counts")
        for op, count in told.items() if isinstance(told, dict) else ():
            if type(count) is int:
                counts.setdefault(str(op), {})[rank["rank"]] = count
    apart = {op: max(by_rank.values()) - min(by_rank.values()) for op, by_rank in counts.items()}
    op = max(apart, key=lambda name: apart[name], default=None)
    if op is None or not apart[op]:
        return None, None, []
    furthest = max(counts[op].values())
    return op, furthest, [rank for rank, count in counts[op].items() if count < furthest]


def _dead(rank: dict[str, Any], line: int) -> LogEvent:
    process, node, gpu = rank.get("pid"), str(rank.get("host", "")), str(rank.get("cuda_dev", ""))
    return LogEvent(kind=EventKind.NETWORK_ERROR, line=line,
                    text=f"Process {process} on node {node} managing GPU {gpu} is considered dead",
                    details={"dead": True, "process": process, "node": node, "gpu": gpu})
