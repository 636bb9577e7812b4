"""The environment that a rank, or a command that starts the ranks of a worker, is started with."""

from __future__ import annotations

import os
from typing import Dict, Mapping

from hedgerow import environment, launch_arguments
from hedgerow.options import GPUS_PER_RANK, Options
from hedgerow.slurm import launch as slurm_launch
from hedgerow.slurm.rank_variables import of_ranks, own_gpus, rank_variables
from hedgerow.stacks import STACKS_SIGNAL
from hedgerow.wire import Command

_PYTHONPATH = "PYTHONPATH"
# Options of torchrun as variables: whoever finds the others by a rendezvous of its own would not join this attempt's.
_OF_LAUNCHERS = ("PET_STANDALONE", "PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT", "PET_RDZV_ID", "PET_RDZV_CONF")
# What says of a process that it is a rank.
_OF_RANKS = (
    "RANK",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "WORLD_SIZE",
    environment.HEARTBEAT,
    environment.STACKS,
)


def rank_environment(
    options: Options,
    start: Command,
    local_rank: int,
    files: Mapping[str, str],
    archive: str,
    inherited: Mapping[str, str],
) -> Dict[str, str]:
    """Variables of rank ``local_rank``. files: HEARTBEAT and STACKS -> path. archive: this package as a zip file."""
    variables = _common(options, start, archive, inherited)
    if options.own_place and options.per_task:
        variables.update(files)
        return variables
    variables.update(
        {
            **_master(start),
            "RANK": str(options.worker * options.nproc + local_rank),
            "LOCAL_RANK": str(local_rank),
            "LOCAL_WORLD_SIZE": str(options.nproc),
            "GROUP_RANK": str(options.worker),
            "WORLD_SIZE": str(options.workers * options.nproc),
        }
    )
    if options.step is not None and options.slurm_launch == slurm_launch.PER_NODE:
        variables = of_ranks(variables)
        variables.update(rank_variables(options.worker, options.workers, options.nproc, local_rank))
    if options.gpus == GPUS_PER_RANK:
        variables.update(own_gpus(variables, options.nproc, local_rank))
    variables.update(files)
    return variables


def command_environment(
    options: Options, start: Command, folder: str, archive: str, inherited: Mapping[str, str]
) -> Dict[str, str]:
    """Variables of a command that starts the ranks of this worker itself. folder: the ranks find their files there."""
    given = {name: value for name, value in inherited.items() if name not in _OF_RANKS + _OF_LAUNCHERS}
    variables = _common(options, start, archive, given)
    variables.update(
        {
            launch_arguments.NNODES: str(options.workers),
            launch_arguments.NODE_RANK: str(options.worker),
            launch_arguments.NPROC_PER_NODE: str(options.nproc),
            launch_arguments.MASTER_ADDR: start.master_address,
            launch_arguments.MASTER_PORT: str(start.master_port),
            # Whoever restarts a rank alone restarts it beside ranks that still wait for the one before.
            launch_arguments.MAX_RESTARTS: "0",
            "NODE_RANK": str(options.worker),
            **_master(start),
            environment.RANKS: folder,
        }
    )
    return variables


def _master(start: Command) -> Dict[str, str]:
    return {"MASTER_ADDR": start.master_address, "MASTER_PORT": str(start.master_port)}


def _common(options: Options, start: Command, archive: str, inherited: Mapping[str, str]) -> Dict[str, str]:
    variables = {name: value for name, value in inherited.items() if name not in environment.LAUNCHER_ONLY}
    for name in (environment.RESUME_FROM, environment.RANKS):
        variables.pop(name, None)
    variables.setdefault("PYTHONUNBUFFERED", "1")
    variables.update(
        {
            environment.ATTEMPT: str(start.attempt),
            environment.HEARTBEAT_SOURCE: options.heartbeat_source,
            environment.STACKS_SIGNAL: str(STACKS_SIGNAL),
        }
    )
    if start.resume_from:
        variables[environment.RESUME_FROM] = start.resume_from
    variables[_PYTHONPATH] = injected_path(archive, variables.get(_PYTHONPATH, ""))
    return variables


def injected_path(archive: str, theirs: str) -> str:
    """PYTHONPATH with our start-up code and our package in front of what the user set."""
    own = [os.path.join(archive, "hedgerow", "inject"), archive]
    # An empty entry would mean the working directory.
    return os.pathsep.join(own + ([theirs] if theirs else []))
