"""What a check of the machine is, and how files of /proc and /sys are read."""

import os
from dataclasses import dataclass, field
from typing import Protocol

from hedgerow.wire_agent import DiskReport, Finding, LinkReport

_LONGEST = 1 << 20


@dataclass
class HostReading:
    """What one look gave. values: names as in HOST_VALUES. killed: whom the kernel's log says it ended for memory."""

    values: dict[str, float] = field(default_factory=dict)
    disks: list[DiskReport] = field(default_factory=list)
    links: list[LinkReport] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)


class HostCheck(Protocol):
    """One thing that is looked at on the machine. Nothing that it calls may block."""

    name: str

    def sample(self, root: str, reading: HostReading) -> None:
        """Look, and put what is seen into the reading. root: where /proc and /sys of the host are, ``""`` for here."""

    def judge(self, reading: HostReading, now: float) -> list[Finding]:
        """What there is to say. now: CLOCK_BOOTTIME seconds."""


def text(root: str, path: str) -> str | None:
    """The text of a file; None when it is not there or cannot be read."""
    try:
        with open(root + path, "rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return None


def whole(root: str, path: str) -> int | None:
    """The whole number that is all of a file; None when there is none."""
    found = text(root, path)
    try:
        return None if found is None else int(found)
    except ValueError:
        return None


def names(root: str, path: str) -> list[str]:
    """What a folder holds, sorted; nothing when it is not there."""
    try:
        return sorted(os.listdir(root + path))
    except OSError:
        return []
