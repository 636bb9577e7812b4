"""Dumps of torch's flight recorder, reduced to where the rank is in each process group.

A dump holds some thousand operations, of which an answer to "who is missing" needs three a group: the last collective
that the rank joined, the first that is not complete, and transfers that are not. What is left has torch's own form, so
that whoever reads dumps reads this; field names as in torch/csrc/distributed/c10d/FlightRecorder.hpp and, for dumps
before version 2, in the trace of ProcessGroupNCCL.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Optional, Tuple

MOST_TRANSFERS = 32
_COMPLETED = "completed"
_TRANSFER = re.compile(r"(?:send|recv) \d")
_FIELDS = (
    "record_id", "id", "pg_id", "process_group", "collective_seq_id", "seq_id", "p2p_seq_id", "profiling_name", "state",
    "is_p2p", "input_sizes", "output_sizes", "input_dtypes", "output_dtypes", "time_discovered_completed_ns",
)  # fmt: skip
_RANKS = "ranks"
# Runs of ranks with one stride: first, how many, stride.
_RUNS = "rank_runs"


def reduce_dump(dump: Any) -> Optional[Dict[str, Any]]:
    """The part of ``dump`` (plain values) that is worth sending; None if it is no dump."""
    whole = {"entries": dump} if isinstance(dump, list) else dump
    if not isinstance(whole, dict) or not isinstance(whole.get("entries"), list):
        return None
    entries = [entry for entry in whole["entries"] if isinstance(entry, dict)]
    kept = [{name: entry[name] for name in _FIELDS if name in entry} for entry in _telling(entries)]
    reduced: Dict[str, Any] = {"entries": kept, "count": len(entries)}
    if isinstance(whole.get("pg_config"), dict):
        reduced["pg_config"] = {str(name): _packed(group) for name, group in whole["pg_config"].items()}
    return reduced


def expand(reduced: Dict[str, Any]) -> Dict[str, Any]:
    """What :func:`reduce_dump` made, with the ranks of each group written out as torch does."""
    config = reduced.get("pg_config")
    if not isinstance(config, dict):
        return reduced
    return dict(reduced, pg_config={name: _unpacked(group) for name, group in config.items()})


def _telling(entries: Iterable[Dict[str, Any]]) -> List[Dict[str, Any]]:
    newest: Dict[Any, Dict[str, Any]] = {}
    first_open: Dict[Any, Dict[str, Any]] = {}
    transfers: List[Dict[str, Any]] = []
    for entry in entries:
        if _is_transfer(entry):
            if not _is_complete(entry) and len(transfers) < MOST_TRANSFERS:
                transfers.append(entry)
            continue
        group, sequence = _group(entry), _sequence(entry)
        if sequence is None:
            continue
        if group not in newest or sequence > (_sequence(newest[group]) or 0):
            newest[group] = entry
        if not _is_complete(entry) and (group not in first_open or sequence < (_sequence(first_open[group]) or 0)):
            first_open[group] = entry
    collectives = list(newest.values())
    collectives += [entry for group, entry in first_open.items() if entry is not newest[group]]
    return collectives + transfers


def _group(entry: Dict[str, Any]) -> Any:
    named = entry.get("process_group")
    return tuple(map(str, named)) if isinstance(named, (list, tuple)) else str(entry.get("pg_id"))


def _sequence(entry: Dict[str, Any]) -> Optional[int]:
    for name in ("collective_seq_id", "seq_id"):
        value = entry.get(name)
        if type(value) is int:
            return value
    return None


def _is_transfer(entry: Dict[str, Any]) -> bool:
    told = entry.get("is_p2p")
    return told if isinstance(told, bool) else bool(_TRANSFER.search(str(entry.get("profiling_name"))))


def _is_complete(entry: Dict[str, Any]) -> bool:
    state = entry.get("state")
    return state == _COMPLETED if isinstance(state, str) else entry.get("time_discovered_completed_ns") is not None


def _packed(group: Any) -> Any:
    """A group of thousands of ranks is usually one run of them."""
    if not isinstance(group, dict) or _RANKS not in group:
        return group
    named = group[_RANKS]
    ranks = [int(text) for text in re.findall(r"\d{1,9}", named)] if isinstance(named, str) else list(named)
    rest = {name: value for name, value in group.items() if name != _RANKS}
    return dict(rest, **{_RUNS: _runs(ranks)})


def _unpacked(group: Any) -> Any:
    if not isinstance(group, dict) or _RUNS not in group:
        return group
    ranks = [first + at * stride for first, count, stride in group[_RUNS] for at in range(count)]
    rest = {name: value for name, value in group.items() if name != _RUNS}
    return dict(rest, **{_RANKS: ranks})


def _runs(ranks: List[int]) -> List[Tuple[int, int, int]]:
    runs: List[Tuple[int, int, int]] = []
    for rank in ranks:
        first, count, stride = runs[-1] if runs else (0, 0, 0)
        if count == 1 and rank > first:
            runs[-1] = (first, 2, rank - first)
        elif count > 1 and rank == first + count * stride:
            runs[-1] = (first, count + 1, stride)
        else:
            runs.append((rank, 1, 1))
    return runs
