"""The launcher's own lines: how it writes them, and how they are read again."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Tuple

PREFIX = "hedgerow: "

READY = "worker %d of %d is ready to start %d ranks"
STARTS = "attempt %d starts%s"
STOPPED = "attempt %d is stopped%s"
RANK_ENDED = "rank %d ended with exit code %d"
LEFT = "rank %d ended with exit code %d and left %s"
LEFT_BY_SOME = "the ranks have ended and left %s"
COMMAND_ENDED = "the command that starts the ranks ended with exit code %d"
REPLACED = (
    "the ranks are started with another PYTHONPATH, so that only their output tells progress, and no stacks come; "
    "write PYTHONPATH=DIRECTORY:$PYTHONPATH"
)
CANNOT_START = "%r cannot be started: %s"
ALL_ENDED = "every process of attempt %d has ended here"
FENCED = "nobody has confirmed attempt %d for too long; its ranks are killed"
ASKED_TO_END = "asked to end; the ranks are stopped"
ASKED_AGAIN = "asked to end again; the ranks are killed"

_READ = (
    READY, STARTS, STOPPED, RANK_ENDED, LEFT, LEFT_BY_SOME, COMMAND_ENDED, CANNOT_START, ALL_ENDED, FENCED,
    ASKED_TO_END, ASKED_AGAIN,
)
_FIELDS = {"%d": r"(-?\d{1,9})", "%s": r"(.*)", "%r": r"(.+)"}


def _pattern(template: str) -> "re.Pattern[str]":
    pieces = re.split("(%[dsr])", template)
    return re.compile("".join(_FIELDS.get(piece, re.escape(piece)) for piece in pieces))


_PATTERNS = tuple((template, _pattern(template)) for template in _READ)


class LauncherLine(NamedTuple):
    """Which line it is (one of the templates above), and what stands for its fields, as text."""

    template: str
    fields: Tuple[str, ...]

    def number(self, place: int) -> int:
        """The field at ``place``, a number."""
        return int(self.fields[place])


def parse(words: str) -> Optional[LauncherLine]:
    """The line that the launcher said, None if it did not or if nothing follows from it."""
    if not words.startswith(PREFIX):
        return None
    said = words[len(PREFIX):].rstrip()
    for template, pattern in _PATTERNS:
        found = pattern.fullmatch(said)
        if found:
            return LauncherLine(template, found.groups())
    return None
