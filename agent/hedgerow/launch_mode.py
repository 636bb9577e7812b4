"""How the command becomes ranks: started once for each rank, or once, and it starts the ranks itself."""

from __future__ import annotations

import os
import re
from typing import Sequence, Tuple

from hedgerow.launch_front import without_front

PER_RANK = "per-rank"
PER_WORKER = "per-worker"
MODES = (PER_RANK, PER_WORKER)
# As a manifest writes them.
_IN_MANIFESTS = {"PerRank": PER_RANK, "PerWorker": PER_WORKER}

LAUNCHERS = ("torchrun", "accelerate", "accelerate-launch", "deepspeed")
LAUNCHER_MODULES = (
    "torch.distributed.run",
    "torch.distributed.launch",
    "accelerate.commands.launch",
    "accelerate.commands.accelerate_cli",
    "deepspeed.launcher.runner",
)
_SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh")
_COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)
_CALLS = re.compile(
    r"(?:^|[\s;&|({'\"/])(?:torchrun|accelerate\s+launch|accelerate-launch|deepspeed(?=\s)|%s)(?=$|[\s;&|)}'\"\\])"
    % "|".join(re.escape(module) for module in LAUNCHER_MODULES),
    re.MULTILINE,
)
_SCRIPT_BYTES = 1 << 16


def named(text: str) -> str:
    """The mode as it is written on a command line, from either way of writing it."""
    return _IN_MANIFESTS.get(text, text)


def default_mode(command: Sequence[str]) -> str:
    """PER_WORKER where the command is a launcher of ranks, or a shell whose script calls one; else PER_RANK."""
    words = without_front(command)
    if not words:
        return PER_RANK
    name = os.path.basename(words[0])
    if name in LAUNCHERS or _is_module(words) or (len(words) > 1 and os.path.basename(words[1]) in LAUNCHERS):
        return PER_WORKER
    if not _is_shell(words[0]):
        return PER_RANK
    text, file = _script(words)
    return PER_WORKER if calls_launcher(text or _text(file)) else PER_RANK


def script_file(command: Sequence[str]) -> str:
    """The file of a shell script, which alone says whether ranks are started in it; empty: nothing is hidden."""
    words = without_front(command)
    return _script(words)[1] if words and _is_shell(words[0]) else ""


def inline_script(command: Sequence[str]) -> str:
    """The text that a shell is given after ``-c``; empty where there is none."""
    words = without_front(command)
    return _script(words)[0] if words and _is_shell(words[0]) else ""


def shown(command: Sequence[str]) -> str:
    """The name of what the command runs."""
    words = without_front(command) or command
    return words[words.index("-m") + 1] if _is_module(words) else os.path.basename(words[0])


def calls_launcher(script: str) -> bool:
    """Whether the text of a shell script names a launcher of ranks outside of its comments."""
    return _CALLS.search(_COMMENT.sub("", script)) is not None


def _is_module(words: Sequence[str]) -> bool:
    """``python [OPTIONS] -m MODULE``; what follows the first word that is no option belongs to the script."""
    for at, word in enumerate(words[1:-1], start=1):
        if word == "-m":
            return words[at + 1] in LAUNCHER_MODULES
        if not word.startswith("-") and words[at - 1] not in ("-X", "-W"):
            return False
    return False


def _is_shell(program: str) -> bool:
    return os.path.basename(program) in _SHELLS or program.endswith(".sh")


def _script(words: Sequence[str]) -> Tuple[str, str]:
    """What a shell is to run: the text after ``-c``, or else the file that it names."""
    if words[0].endswith(".sh"):
        return "", words[0]
    for at, word in enumerate(words[1:], start=1):
        if not word.startswith(("-", "+")):
            return "", word
        if not word.startswith("--") and word.endswith("c"):
            return "".join(words[at + 1 : at + 2]), ""
    return "", ""


def _text(path: str) -> str:
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return file.read(_SCRIPT_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
