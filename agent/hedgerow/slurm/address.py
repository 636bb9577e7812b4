"""Where the tasks of one node meet."""

from __future__ import annotations

import os

from hedgerow.options import Options


def meeting_place(options: Options) -> str:
    """Name of the abstract socket: of this user, step, node and placement, as several nodes may share a machine."""
    assert options.step is not None
    place = (str(os.geteuid()), options.step.name, options.step.node, str(options.placement))
    return "hedgerow/" + "/".join(place)
