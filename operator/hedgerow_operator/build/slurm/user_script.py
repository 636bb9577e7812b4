"""What is read of ``spec.slurm.script``."""

from __future__ import annotations

import re

DEFAULT_INTERPRETER = "/bin/bash"
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_COMMANDS = re.compile(r"\n|;|&&|\|\||\||&")
_SRUN = re.compile(r"""(?:^|[\s({`"'=/])srun(?=\s|$)""")
# Commands that name srun without calling it.
_NAMES_ONLY = re.compile(r"\s*(?:echo|printf|which|type|man|alias|unalias|module|command\s+-[vV]|export\s+-f)\b")


def calls_srun(script: str) -> bool:
    """Whether the script starts its ranks with srun itself, outside of its comments."""
    text = _COMMENT.sub("", script).replace("\\\n", " ")
    return any(_SRUN.search(command) and not _NAMES_ONLY.match(command) for command in _COMMANDS.split(text))


def interpreter(script: str) -> list[str]:
    """The words that the script is started with: as its first line says, with one argument at most, like the kernel."""
    first = script.split("\n", 1)[0]
    words = first[2:].strip().split(None, 1) if first.startswith("#!") else []
    return words or [DEFAULT_INTERPRETER]
