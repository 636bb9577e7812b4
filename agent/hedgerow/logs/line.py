"""One line of output: its text, the rank that its prefix names, and the time that it carries."""

from __future__ import annotations

import calendar
import re
from typing import NamedTuple, Optional, Tuple

# `[rank3]:` of torch, `[default7]:` of torchrun (a number within the node), ` 12: ` of srun --label, or several.
_PREFIX = re.compile(r"^\s*(?:\[rank(?P<rank>\d{1,6})\]:|\[default(?P<local>\d{1,6})\]:|(?P<task>\d{1,6}):(?=\s))\s?")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CLOCK = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?"
)
# A time further inside is part of a message, not the time of the line.
_CLOCK_WITHIN = 120
_MOST_PREFIXES = 3


class Prefix(NamedTuple):
    """Who says a line. rank: global; local_rank: within the node, where no more is told; text: as it is written."""

    rank: Optional[int] = None
    local_rank: Optional[int] = None
    text: str = ""


class Line:
    """The text of a line without colours; prefix and time are looked for when asked."""

    __slots__ = ("_clock", "_prefix", "text")

    def __init__(self, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace")
        self.text = _ANSI.sub("", text) if "\x1b" in text else text
        self._prefix: Optional[Tuple[Prefix, str]] = None
        self._clock: Optional[Tuple[Optional[float], bool]] = None

    @property
    def rank(self) -> Optional[int]:
        """The global rank that the prefix names; the innermost wins, as that is what the process itself says."""
        return self._split()[0].rank

    @property
    def local_rank(self) -> Optional[int]:
        """The rank within its node, where the prefix tells no more."""
        return self._split()[0].local_rank

    @property
    def speaker(self) -> str:
        """The prefixes, which tell one process from another."""
        return self._split()[0].text

    @property
    def words(self) -> str:
        """The text behind the prefixes."""
        return self._split()[1]

    @property
    def clock(self) -> Tuple[Optional[float], bool]:
        """Seconds since the epoch as written near the start of the line, and whether a time zone was told."""
        if self._clock is None:
            self._clock = find_clock(self.text[:_CLOCK_WITHIN])
        return self._clock

    def _split(self) -> Tuple[Prefix, str]:
        if self._prefix is None:
            self._prefix = split_prefix(self.text)
        return self._prefix


def split_prefix(text: str) -> Tuple[Prefix, str]:
    """The prefixes of a line, and the rest of it. A task of srun that runs torchrun is no rank."""
    rank = local = None
    rest = text
    for _ in range(_MOST_PREFIXES):
        found = _PREFIX.match(rest)
        if not found:
            break
        told = found.group("rank") or found.group("task")
        rank, local = (int(told), None) if told else (None, int(found.group("local")))
        rest = rest[found.end():]
    return Prefix(rank, local, text[: len(text) - len(rest)].strip()), rest


def find_clock(text: str) -> Tuple[Optional[float], bool]:
    """The first date and time in ``text`` as seconds since the epoch (as if UTC without a zone), and whether zoned."""
    for found in _CLOCK.finditer(text):
        seconds = _seconds(found)
        if seconds is not None:
            return seconds, found.group(8) is not None
    return None, True


def _seconds(found: "re.Match[str]") -> Optional[float]:
    year, month, day, hour, minute, second = (int(found.group(place)) for place in range(1, 7))
    if not (1970 <= year < 2200 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    fraction = float("0." + found.group(7)) if found.group(7) else 0.0
    return calendar.timegm((year, month, day, hour, minute, second)) + fraction - _zone(found.group(8))


def _zone(text: Optional[str]) -> int:
    if not text or text == "Z":
        return 0
    seconds = int(text[1:3]) * 3600 + int(text[-2:]) * 60
    return -seconds if text[0] == "-" else seconds
