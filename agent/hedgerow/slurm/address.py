"""Where the tasks of one node meet."""

from __future__ import annotations

import os

from hedgerow.options import Options


def meeting_place(options: Options) -> str:
    """Name of the abstract socket: of this user, step, node and placement, as several nodes, and even several clusters
    with steps of the same name, may share a machine.
    """
    step = options.step
    assert step is not None
    place = (str(os.geteuid()), step.name, step.node, step.srun, str(options.placement))
    return "hedgerow/" + "/".join(place)
