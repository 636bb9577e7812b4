"""What the variables of the command that trains may not be: of a container, or under spec.local."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hedgerow_operator.api.rule import cel_list

# What the launcher sets for each rank itself, and for a command that starts the ranks: torchrun reads the latter.
RANK_VARIABLES = (
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
)
TORCHRUN_VARIABLES = (
    "PET_NNODES",
    "PET_NODE_RANK",
    "PET_NPROC_PER_NODE",
    "PET_MASTER_ADDR",
    "PET_MASTER_PORT",
    "PET_MAX_RESTARTS",
    "PET_STANDALONE",
)
OWN_PREFIX = "HEDGEROW_"


@dataclass(frozen=True)
class CommandRule:
    """cel: the rule about the object with that CEL name; holds: about the names of its variables."""

    field: str
    message: str
    cel: Callable[[str], str]
    holds: Callable[[Sequence[str]], bool]


def _all_free_cel(names: tuple[str, ...], prefix: str = "") -> Callable[[str], str]:
    own = f" && !entry.name.startsWith('{prefix}')" if prefix else ""
    return lambda owner: f"!has({owner}.env) || {owner}.env.all(entry, !(entry.name in {cel_list(names)}){own})"


def _no_rank_variable(env: Sequence[str]) -> bool:
    return not any(name in RANK_VARIABLES or name.startswith(OWN_PREFIX) for name in env)


def _no_torchrun_variable(env: Sequence[str]) -> bool:
    return not any(name in TORCHRUN_VARIABLES for name in env)


COMMAND_RULES = (
    CommandRule(
        field="env",
        message=f"leave out {', '.join(RANK_VARIABLES)} and every name that begins with {OWN_PREFIX}: Hedgerow sets "
        "them for each rank; give a value of your own another name",
        cel=_all_free_cel(RANK_VARIABLES, OWN_PREFIX),
        holds=_no_rank_variable,
    ),
    CommandRule(
        field="env",
        message=f"leave out {', '.join(TORCHRUN_VARIABLES)}: Hedgerow sets them for torchrun, from workers and "
        "ranksPerWorker",
        cel=_all_free_cel(TORCHRUN_VARIABLES),
        holds=_no_torchrun_variable,
    ),
)
