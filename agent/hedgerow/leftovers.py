"""What ranks that ended by themselves left running: a command that went into the background, say, is no success."""

from __future__ import annotations

import collections
from typing import Dict, List, Mapping, Optional, Sequence

from hedgerow.descendants import Descendants
from hedgerow.kernel import Process
from hedgerow.logs.launcher_lines import LEFT, LEFT_BY_SOME

# Helpers that notice the end of their rank, such as multiprocessing's, get this long to end without a word.
HELPERS_SECONDS = 0.5


class Leftovers:
    """Of one attempt. Times are CLOCK_BOOTTIME seconds."""

    def __init__(self) -> None:
        self._since: Optional[float] = None
        self._told = False

    def begin(self, now: float) -> None:
        """Every rank has ended, and something of theirs has not."""
        self._since = now

    def may_end(self, now: float) -> bool:
        """Whether they still may end by themselves."""
        return self._since is not None and now < self._since + HELPERS_SECONDS

    def lines(self, alive: Sequence[Process], codes: Mapping[int, int], groups: Mapping[int, int],
              now: float) -> List[str]:
        """What is said of those that are still alive, once. codes: exit codes by rank; groups: ranks by their pid."""
        if self._since is None or self._told:
            return []
        self._told = True
        owners = _owners(alive, codes, groups, now)
        known = [LEFT % (rank, codes[rank], _processes(owners[rank])) for rank in sorted(codes) if owners[rank]]
        unknown = len(alive) - sum(owners.values())
        return known + ([LEFT_BY_SOME % _processes(unknown)] if unknown else [])


def _owners(
    alive: Sequence[Process], codes: Mapping[int, int], groups: Mapping[int, int], now: float
) -> Dict[int, int]:
    """How many of them each rank left. What took itself out of the group of its rank still has its variables."""
    places = Descendants().places(alive, now)
    count: Dict[int, int] = collections.Counter()
    for process in alive:
        owner = groups.get(process.group, groups.get(process.session))
        if owner is None and process.pid in places:
            owner = places[process.pid].rank
        if owner is None and len(codes) == 1:
            owner = next(iter(codes))
        if owner in codes and owner is not None:
            count[owner] += 1
    return count


def _processes(count: int) -> str:
    return "1 process, which is ended" if count == 1 else "%d processes, which are ended" % count
