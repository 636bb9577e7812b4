"""Runs a command as it would have run without us."""

from __future__ import annotations

import os
from typing import List, Mapping, Sequence

from hedgerow import environment, machine
from hedgerow.log import say
from hedgerow.logs.launcher_lines import CANNOT_START

_CANNOT_START = 127  # as a shell says it


def run(why: str, arguments: Sequence[str]) -> int:
    """Become the command that follows ``--`` in ``arguments``; the exit code where it cannot be started."""
    if os.environ.get("SLURM_PROCID", "0") == "0":
        say("this step runs unwatched: %s" % why)
    command = list(arguments[list(arguments).index("--") + 1 :])
    return become(command, machine.given_environment())


def become(command: List[str], variables: Mapping[str, str]) -> int:
    """Only returns where the command cannot be started."""
    own = {name: value for name, value in variables.items() if name not in environment.LAUNCHER_ONLY}
    try:
        os.execvpe(command[0], command, own)  # noqa: S606 (the user's own command)
    except OSError as error:
        say(CANNOT_START % (command[0], error.strerror or error))
    return _CANNOT_START
