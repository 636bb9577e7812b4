"""What stands in front of a command and changes nothing of what it is: env, nice, uv run, conda run and their like."""

from __future__ import annotations

import os
import re
from typing import Dict, NamedTuple, Optional, Sequence, Tuple

_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")


class _Front(NamedTuple):
    """then: the word that must follow, if any. values: options whose value is a word of its own. own: words after."""

    then: Tuple[str, ...] = ()
    values: Tuple[str, ...] = ()
    own: int = 0


_CONTAINER = _Front(
    then=("exec", "run"), values=("-B", "--bind", "--env", "-H", "--home", "--pwd", "-w", "--env-file"), own=1
)
_CONDA = _Front(then=("run",), values=("-n", "--name", "-p", "--prefix", "--cwd"))
_RUN = _Front(then=("run",))
_FRONTS: Dict[str, _Front] = {
    "exec": _Front(values=("-a",)),
    "env": _Front(values=("-u", "--unset", "-C", "--chdir")),
    "nohup": _Front(),
    "time": _Front(values=("-f", "-o", "--format", "--output")),
    "stdbuf": _Front(values=("-i", "-o", "-e", "--input", "--output", "--error")),
    "nice": _Front(values=("-n", "--adjustment")),
    "ionice": _Front(values=("-c", "-n", "--class", "--classdata")),
    "numactl": _Front(
        values=("-N", "-m", "-C", "-i", "-p", "-l", "--cpunodebind", "--membind", "--physcpubind", "--interleave")
    ),
    "taskset": _Front(own=1),
    "chrt": _Front(own=1),
    "setsid": _Front(),
    "timeout": _Front(values=("-s", "-k", "--signal", "--kill-after"), own=1),
    "tini": _Front(values=("-p", "-e")),
    "dumb-init": _Front(values=("-r", "--rewrite")),
    "gosu": _Front(own=1),
    "su-exec": _Front(own=1),
    "catchsegv": _Front(),
    "nsys": _Front(then=("profile",), values=("-o", "-t", "-w", "-c", "-y", "-d", "-f", "-s", "-e", "-x")),
    "conda": _CONDA,
    "mamba": _CONDA,
    "micromamba": _CONDA,
    "uv": _Front(
        then=("run",),
        values=(
            "--with", "--with-editable", "--with-requirements", "--extra", "--group", "--package", "--project",
            "--directory", "--env-file", "-p", "--python", "--index", "--index-url", "--extra-index-url",
        ),
    ),
    "poetry": _RUN,
    "pdm": _RUN,
    "pipenv": _RUN,
    "hatch": _RUN,
    "rye": _RUN,
    "pixi": _Front(then=("run",), values=("-e", "--environment", "--manifest-path")),
    "apptainer": _CONTAINER,
    "singularity": _CONTAINER,
}  # fmt: skip


def without_front(command: Sequence[str]) -> Sequence[str]:
    """The command from the word on that says what is run; the whole command where nothing stands in front."""
    at = 0
    while at < len(command):
        front = _FRONTS.get(os.path.basename(command[at]))
        if front is None:
            break
        after = _after(command, at + 1, front)
        if after is None:
            break
        at = after
    return command[at:]


def _after(command: Sequence[str], at: int, front: _Front) -> Optional[int]:
    """Where the command begins behind this front; None: it is used for something else."""
    missing = front.then
    own = front.own
    while at < len(command):
        word = command[at]
        if missing and word in missing:
            missing = ()
        elif word == "--" and not missing:
            return at + 1 + own
        elif word.startswith("-") and word != "-":
            at += 1 if word in front.values else 0
        elif missing:
            return None
        elif own:
            own -= 1
        elif not _ASSIGNMENT.match(word):
            return at
        at += 1
    return None if missing else at
