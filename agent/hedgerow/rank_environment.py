"""The environment that one rank is started with: what the world of torch expects, and our own variables."""

from __future__ import annotations

import os
from typing import Dict, Mapping

from hedgerow import environment
from hedgerow.options import Options
from hedgerow.stacks import STACKS_SIGNAL
from hedgerow.wire import Command

_PYTHONPATH = "PYTHONPATH"


def rank_environment(
    options: Options,
    start: Command,
    local_rank: int,
    files: Mapping[str, str],
    archive: str,
    inherited: Mapping[str, str],
) -> Dict[str, str]:
    """Variables of rank ``local_rank``. files: HEARTBEAT and STACKS -> path. archive: this package as a zip file."""
    variables = {name: value for name, value in inherited.items() if name not in environment.LAUNCHER_ONLY}
    variables.pop(environment.RESUME_FROM, None)
    variables.setdefault("PYTHONUNBUFFERED", "1")
    variables.update(
        {
            "RANK": str(options.worker * options.nproc + local_rank),
            "LOCAL_RANK": str(local_rank),
            "LOCAL_WORLD_SIZE": str(options.nproc),
            "GROUP_RANK": str(options.worker),
            "WORLD_SIZE": str(options.workers * options.nproc),
            "MASTER_ADDR": start.master_address,
            "MASTER_PORT": str(start.master_port),
            environment.ATTEMPT: str(start.attempt),
            environment.HEARTBEAT_SOURCE: options.heartbeat_source,
            environment.STACKS_SIGNAL: str(STACKS_SIGNAL),
        }
    )
    variables.update(files)
    if start.resume_from:
        variables[environment.RESUME_FROM] = start.resume_from
    variables[_PYTHONPATH] = injected_path(archive, variables.get(_PYTHONPATH, ""))
    return variables


def injected_path(archive: str, theirs: str) -> str:
    """PYTHONPATH with our start-up code and our package in front of what the user set."""
    own = [os.path.join(archive, "hedgerow", "inject"), archive]
    # An empty entry would mean the working directory.
    return os.pathsep.join(own + ([theirs] if theirs else []))
