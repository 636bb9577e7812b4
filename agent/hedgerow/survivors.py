"""Which processes of the ranks are still alive, those that left their group or their parent included. Pure."""

from __future__ import annotations

from typing import Dict, Iterable, List

from hedgerow.kernel import Process, tree


def survivors(launcher: int, groups: Iterable[int], table: Dict[int, Process]) -> List[int]:
    """Pids of what is alive of the ranks: every descendant of the launcher, which starts nothing else and adopts
    orphans, and every member of a rank's group or session.
    """
    wanted = set(groups)
    below = {entry.pid for entry in tree(launcher, table)} - {launcher}
    return [
        entry.pid
        for entry in table.values()
        if entry.alive and (entry.pid in below or entry.group in wanted or entry.session in wanted)
    ]
