"""One thing that a check has found: a level and a sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from msgspec import Struct

Level = Literal["error", "warning", "fine"]
ERROR: Level = "error"
WARNING: Level = "warning"
FINE: Level = "fine"


class Finding(Struct, frozen=True):
    """about: what was looked at, in a word. where: FILE:LINE, empty where it is of no place. job: NAMESPACE/NAME.

    error: it cannot work. warning: it may go wrong, or could not be looked at. fine: looked at and found well.
    """

    level: Level
    about: str
    sentence: str
    where: str = ""
    job: str = ""


Say = Callable[[str], Finding]


def about(topic: str) -> tuple[Say, Say, Say]:
    """Makers of an error, a warning and something fine about a topic, from a sentence."""
    return partial(Finding, ERROR, topic), partial(Finding, WARNING, topic), partial(Finding, FINE, topic)
