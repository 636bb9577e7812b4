"""What the command of one rank may not be, wherever it is written: in a container or under ``spec.local``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hedgerow_operator.api.rule import cel_list

LAUNCHERS = ("torchrun", "accelerate", "deepspeed")
LAUNCHER_MODULES = (
    "torch.distributed.run",
    "torch.distributed.launch",
    "accelerate.commands.launch",
    "deepspeed.launcher.runner",
)
SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "busybox")

# What the launcher sets for each rank itself.
RANK_VARIABLES = (
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
)
OWN_PREFIX = "HEDGEROW_"

_DIRECTLY = "start the ranks directly: command: [python, train.py] with ranksPerWorker: N"


@dataclass(frozen=True)
class CommandRule:
    """cel: the rule about the object with that CEL name, whose ``args`` exist or not; holds: about its parts."""

    field: str
    message: str
    cel: Callable[[str, bool], str]
    holds: Callable[[Sequence[str], Sequence[str], Sequence[str]], bool]


def _first_word_rule(names: tuple[str, ...], message: str) -> CommandRule:
    endings = tuple(f"/{name}" for name in names)

    def cel(owner: str, has_args: bool) -> str:
        word = f"{owner}.command[0]"
        return (
            f"!has({owner}.command) || size({owner}.command) == 0"
            f" || !({word} in {cel_list(names)} || {cel_list(endings)}.exists(ending, {word}.endsWith(ending)))"
        )

    def holds(command: Sequence[str], args: Sequence[str], env: Sequence[str]) -> bool:
        return not command or command[0].rsplit("/", 1)[-1] not in names

    return CommandRule(field="command", message=message, cel=cel, holds=holds)


def _no_launcher_module_cel(owner: str, has_args: bool) -> str:
    modules = cel_list(LAUNCHER_MODULES)
    rule = f"(!has({owner}.command) || !{owner}.command.exists(word, word in {modules}))"
    if has_args:
        rule += f" && (!has({owner}.args) || !{owner}.args.exists(word, word in {modules}))"
    return rule


def _no_launcher_module(command: Sequence[str], args: Sequence[str], env: Sequence[str]) -> bool:
    return not any(word in LAUNCHER_MODULES for word in (*command, *args))


def _no_rank_variable_cel(owner: str, has_args: bool) -> str:
    return (
        f"!has({owner}.env) || {owner}.env.all(entry,"
        f" !(entry.name in {cel_list(RANK_VARIABLES)}) && !entry.name.startsWith('{OWN_PREFIX}'))"
    )


def _no_rank_variable(command: Sequence[str], args: Sequence[str], env: Sequence[str]) -> bool:
    return not any(name in RANK_VARIABLES or name.startswith(OWN_PREFIX) for name in env)


COMMAND_RULES = (
    _first_word_rule(
        LAUNCHERS, f"torchrun, accelerate and deepspeed are not supported yet as the command; {_DIRECTLY}"
    ),
    CommandRule(
        field="command",
        message=f"python -m torch.distributed.run and its like are not supported yet as the command; {_DIRECTLY}",
        cel=_no_launcher_module_cel,
        holds=_no_launcher_module,
    ),
    _first_word_rule(
        SHELLS,
        f"a shell is not supported yet as the command, since it would stand between Hedgerow and the rank; {_DIRECTLY}",
    ),
    CommandRule(
        field="env",
        message=f"leave out {', '.join(RANK_VARIABLES)} and every name that begins with {OWN_PREFIX}: Hedgerow sets "
        "them for each rank; give a value of your own another name",
        cel=_no_rank_variable_cel,
        holds=_no_rank_variable,
    ),
)
