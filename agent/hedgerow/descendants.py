"""Finds ranks among processes by the variables that torchrun, accelerate or deepspeed started them with."""

from __future__ import annotations

import os
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from hedgerow import kernel

# A process that was just forked still shows the variables of its parent; from then on it is not read again.
SETTLED_SECONDS = 3.0
_START_UP = os.path.join("hedgerow", "inject")
# Set by torch/distributed/elastic/agent/server/local_elastic_agent.py and by deepspeed/launcher/launch.py.
_OF_LAUNCHERS = ("TORCHELASTIC_RUN_ID", "CROSS_RANK")


class RankPlace(NamedTuple):
    """What a process says of its place. world: WORLD_SIZE, local_world: LOCAL_WORLD_SIZE; None where it says none.
    launched: by torchrun (accelerate among its users) or deepspeed, as a variable of theirs shows. injected: it was
    started with our start-up code on its PYTHONPATH.
    """

    rank: int
    world: Optional[int] = None
    local_world: Optional[int] = None
    launched: bool = False
    injected: bool = True


class _Known(NamedTuple):
    since: float
    place: Optional[RankPlace]


class Descendants:
    """Looks at processes again and again. Times are CLOCK_BOOTTIME seconds."""

    def __init__(self) -> None:
        self._known: Dict[Tuple[int, int], _Known] = {}

    def places(self, members: Iterable[kernel.Process], now: float) -> Dict[int, RankPlace]:
        """The places of those of ``members`` that have one, by pid."""
        known: Dict[Tuple[int, int], _Known] = {}
        found = {}
        for member in members:
            if not member.alive:
                continue
            key = (member.pid, member.start)
            entry = self._known.get(key)
            if entry is None or entry.place is None or now - entry.since < SETTLED_SECONDS:
                since = now if entry is None else entry.since
                entry = _Known(since, _place(kernel.environ(member.pid) or {}))
            known[key] = entry
            if entry.place is not None:
                found[member.pid] = entry.place
        self._known = known
        return found


def topmost(places: Mapping[int, RankPlace], table: Mapping[int, kernel.Process]) -> List[kernel.Process]:
    """The processes with a place that have no ancestor with one: what a rank starts inherits its variables."""
    return [table[pid] for pid in places if pid in table and not _below(pid, places, table)]


def _below(pid: int, places: Mapping[int, RankPlace], table: Mapping[int, kernel.Process]) -> bool:
    seen = {pid}
    entry = table.get(table[pid].parent)
    while entry is not None and entry.pid not in seen:
        if entry.pid in places:
            return True
        seen.add(entry.pid)
        entry = table.get(entry.parent)
    return False


def _place(variables: Mapping[str, str]) -> Optional[RankPlace]:
    rank = _number(variables, "RANK")
    if rank is None or ("LOCAL_RANK" not in variables and "WORLD_SIZE" not in variables):
        return None
    local_world = _number(variables, "LOCAL_WORLD_SIZE") or _number(variables, "LOCAL_SIZE")
    launched = any(name in variables for name in _OF_LAUNCHERS)
    injected = _START_UP in variables.get("PYTHONPATH", "")
    return RankPlace(rank, _number(variables, "WORLD_SIZE"), local_world, launched, injected)


def _number(variables: Mapping[str, str], name: str) -> Optional[int]:
    text = variables.get(name, "")
    return int(text) if text.isdigit() and len(text) < 10 else None
