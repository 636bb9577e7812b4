"""Files and links that name the newest checkpoint (``latest``): what they say, and how to make them say another."""

from __future__ import annotations

import os
import re
from typing import Iterable, List, NamedTuple, Optional, Set

from hedgerow.checkpoints.names import SET_ASIDE, parse
from hedgerow.checkpoints.replace import write_file, write_link
from hedgerow.regular_file import open_regular

# DeepSpeed writes the name of a folder, Megatron-LM the number of an iteration; ``latest`` is used by others too.
FILES = ("latest", "latest_checkpointed_iteration.txt")
_LONGEST = 4096


class Tracker(NamedTuple):
    """``content``: of the file, or where the link points to."""

    name: str
    content: str
    is_link: bool

    @property
    def value(self) -> str:
        """The name or number that it holds."""
        return os.path.basename(self.content.rstrip("/")) if self.is_link else self.content.strip()


class Target(NamedTuple):
    """What a tracker is to name instead."""

    name: str
    step: int


def read(directory: str, name: str) -> Optional[Tracker]:
    """The tracker of this name; None where there is none that can be understood."""
    path = os.path.join(directory, name)
    try:
        if os.path.islink(path):
            return Tracker(name, os.readlink(path), True)
        if name not in FILES:
            return None
        with open_regular(path) as file:
            if file.size > _LONGEST:
                return None
            return Tracker(name, file.read().decode("utf-8"), False)
    except (OSError, ValueError):
        return None


def find(directory: str, names: Iterable[str]) -> List[Tracker]:
    """The trackers among the entries ``names`` of ``directory``."""
    return [tracker for tracker in (read(directory, name) for name in sorted(names)) if tracker is not None]


def write(directory: str, tracker: Tracker) -> None:
    """Make it so. Raises OSError."""
    path = os.path.join(directory, tracker.name)
    if tracker.is_link:
        write_link(path, tracker.content)
    else:
        write_file(path, tracker.content)


def names_one_of(tracker: Tracker, moved: Set[str], steps: Set[int], names: Set[str]) -> bool:
    """Whether it names something that is set aside now, or was before.

    moved, steps: names and steps that are being set aside. names: all entries of the directory.
    """
    value = tracker.value
    if value in names:
        return value in moved
    aside = re.compile(r"%s(\.\d+)?%s" % (re.escape(value), re.escape(SET_ASIDE)))
    if any(aside.fullmatch(name) for name in names):
        return True
    if tracker.is_link or not value.isdecimal():
        return False
    step = int(value)
    return step in steps or (step in _steps(names, aside=True) and step not in _steps(names, aside=False))


def renamed(tracker: Tracker, target: Target) -> Tracker:
    """The tracker, naming ``target`` in the way it named another."""
    value = tracker.value
    new = str(target.step) if value.isdecimal() and not tracker.is_link else target.name
    at = tracker.content.rindex(value)
    return tracker._replace(content=tracker.content[:at] + new + tracker.content[at + len(value) :])


def _steps(names: Iterable[str], aside: bool) -> Set[int]:
    plain = [name[: -len(SET_ASIDE)] if aside else name for name in names if name.endswith(SET_ASIDE) == aside]
    return {read.step for read in (parse(name, False) or parse(name, True) for name in plain) if read is not None}
