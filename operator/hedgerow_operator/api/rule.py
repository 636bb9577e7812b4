"""One rule that a manifest must keep: as CEL for the API server, as Python for runs without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rule:
    """Something that must hold of one object.

    at: place whose value is ``self``, dotted, "" for the whole object. cel: the rule about it.
    holds: the same rule about the struct at that place. field: the part of it to blame, dotted.
    message: what is wrong and what to write instead.
    """

    at: str
    cel: str
    message: str
    holds: Callable[[Any], bool]
    field: str = ""

    @property
    def place(self) -> str:
        """What the rule blames, dotted from the root."""
        return ".".join(part for part in (self.at, self.field) if part)


@dataclass(frozen=True)
class ChangeRule:
    """A part of ``spec`` that a change must leave as it was.

    field: that part, dotted. cel: the rule about the specs ``self`` and ``oldSelf``. read: that part of a typed spec.
    """

    field: str
    cel: str
    message: str
    read: Callable[[Any], object]
    at = "spec"

    @property
    def place(self) -> str:
        """What the rule blames, dotted from the root."""
        return f"{self.at}.{self.field}"


def cel_list(words: tuple[str, ...]) -> str:
    """The words as a CEL list of strings."""
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"
