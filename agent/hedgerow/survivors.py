"""Which processes of the ranks are still alive, those that left their group or their parent included. Pure."""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional, Sequence

from hedgerow.kernel import Process, tree


def survivors(
    launchers: Sequence[int], groups: Iterable[int], table: Dict[int, Process], helper: Optional[int] = None
) -> List[Process]:
    """What is alive of the ranks: every descendant of the launcher (of each, where several of a node are one), which
    adopts orphans and starts nothing else but its helper, and every member of a rank's group or session.
    """
    wanted = set(groups)
    below = {entry.pid for launcher in launchers for entry in tree(launcher, table)} - {*launchers, helper}
    return [
        entry
        for entry in table.values()
        if entry.alive and (entry.pid in below or entry.group in wanted or entry.session in wanted)
    ]
