"""How many ranks a launcher of ranks, such as torchrun, starts on each node, from its own arguments. Pure."""

from __future__ import annotations

import re
import shlex
from typing import List, Mapping, Sequence

from hedgerow.launch_mode import inline_script

# torch/distributed/run.py; deepspeed/launcher/runner.py; accelerate/commands/launch.py counts those of all machines.
_PER_NODE = ("nproc_per_node", "num_gpus", "num_accelerators")
_OF_ALL, _NODES = "num_processes", "num_machines"


def ranks_of(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Ranks that the command starts here; where it says none, or asks for all GPUs, as many as there are GPUs, or 1.

    variables: of the task; those that the command refers to ($GPUS) are filled in.
    """
    words = _words(inline_script(command)) or list(command)
    for name in _PER_NODE:
        count = _filled(_value(words, name), variables)
        if count.isdigit() and int(count):
            return int(count)
    of_all = _filled(_value(words, _OF_ALL), variables)
    if of_all.isdigit() and int(of_all):
        nodes = _filled(_value(words, _NODES), variables)
        return max(1, int(of_all) // (int(nodes) if nodes.isdigit() and int(nodes) else 1))
    told = variables.get("PET_NPROC_PER_NODE", "")
    return int(told) if told.isdigit() and int(told) else _gpus(variables) or 1


def _words(script: str) -> List[str]:
    if not script:
        return []
    try:
        return shlex.split(script, comments=True)
    except ValueError:
        return script.split()


def _value(words: Sequence[str], name: str) -> str:
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if word.startswith("--") and option[2:].replace("-", "_") == name:
            return value if equals else "".join(words[at + 1 : at + 2])
    return ""


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return re.sub(r"\$\{?(\w+)\}?", lambda found: variables.get(found.group(1), ""), text)


def _gpus(variables: Mapping[str, str]) -> int:
    visible = [word for word in variables.get("CUDA_VISIBLE_DEVICES", "").split(",") if word]
    on_node = variables.get("SLURM_GPUS_ON_NODE", "")
    return len(visible) or (int(on_node) if on_node.isdigit() else 0)
