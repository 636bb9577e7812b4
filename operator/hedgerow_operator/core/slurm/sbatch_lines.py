"""The ``#SBATCH`` lines of a batch script, read as sbatch reads them (src/sbatch/opt.c of Slurm). Pure.

slurmrestd and pyslurm do not look at them: whoever submits through those has to pass their options on.
"""

import re
from collections.abc import Iterator
from itertools import takewhile

from hedgerow_operator.core.slurm.sbatch_options import KINDS, REQUIRED, Flag, parse

_MAGIC = "#SBATCH"
_BLANKS = re.compile(r"\s*")
_PIECE = re.compile(r"""\\\S?|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s#"'\\]""")
_WORD = re.compile(f"(?:{_PIECE.pattern})+")
_ESCAPED = re.compile(r"\\(.?)")
_HETEROGENEOUS = ("hetjob", "packjob")


class BadLine(Exception):
    """A line that sbatch refuses. The message is one sentence that names the line."""


def header_lines(script: str) -> list[str]:
    """The lines themselves, as far as sbatch looks for them: up to the first that is neither empty nor a comment."""
    return [line for _number, line in _header(script)]


def flags_in(script: str) -> tuple[Flag, ...]:
    """The options that they give, in order. Raises BadLine."""
    return tuple(flag for number, line in _header(script) for flag in _flags(line[len(_MAGIC) :], number))


def is_heterogeneous(script: str) -> bool:
    """Whether the script asks for a job of several components."""
    return any(line[len(_MAGIC) :].split()[:1] in ([name] for name in _HETEROGENEOUS) for line in header_lines(script))


def _header(script: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(script.split("\n"), start=1):
        if line.startswith(_MAGIC):
            yield number, line
        elif line.strip() and not line.lstrip().startswith("#"):
            return


def _flags(text: str, number: int) -> tuple[Flag, ...]:
    line = parse(list(takewhile(bool, _words(text, number))))
    if line.script not in (None, *_HETEROGENEOUS):
        raise BadLine(f"line {number}: {line.script} is no option; write it after its option, or after a #")
    for flag in line.flags:
        if flag.value is None and KINDS.get(flag.name) == REQUIRED:
            raise BadLine(f"line {number}: --{flag.name} needs a value; write --{flag.name}=…")
    return line.flags


def _words(text: str, number: int) -> Iterator[str]:
    """Words between blanks. Quotes hold blanks together, a backslash takes what follows as it is (no blank outside of
    quotes), and an unquoted ``#`` begins a comment. An empty one ends the line.
    """
    text, at = text.rstrip(), 0
    while True:
        at = _BLANKS.match(text, at).end()  # type: ignore[union-attr]
        found = _WORD.match(text, at)
        if found is not None:
            yield "".join(map(_unquoted, _PIECE.findall(found.group())))
            at = found.end()
        if text[at : at + 1] in ("", "#"):
            return
        if not text[at].isspace():
            raise BadLine(f"line {number}: a {text[at]} has no counterpart; close the quote")


def _unquoted(piece: str) -> str:
    return _ESCAPED.sub(r"\1", piece[1:-1] if piece[0] in "\"'" else piece)
