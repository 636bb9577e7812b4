"""One line of output: its text, the rank that its prefix names, and the time that it carries."""

from __future__ import annotations

import calendar
import re
from typing import Optional, Tuple

# `[default7]:` and `[rank3]:` of torchrun and torch, ` 12: ` of srun --label; srun's and torch's may both be there.
_PREFIX = re.compile(r"^\s*(?:\[(?:default|rank)(\d{1,6})\]:|(\d{1,6}):(?=\s))\s?")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CLOCK = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?"
)
# A time further inside is part of a message, not the time of the line.
_CLOCK_WITHIN = 120
_MOST_PREFIXES = 3


class Line:
    """The text of a line without colours; prefix and time are looked for when asked."""

    __slots__ = ("_clock", "_prefix", "text")

    def __init__(self, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace")
        self.text = _ANSI.sub("", text) if "\x1b" in text else text
        self._prefix: Optional[Tuple[Optional[int], str]] = None
        self._clock: Optional[Tuple[Optional[float], bool]] = None

    @property
    def rank(self) -> Optional[int]:
        """The rank that the prefix names; the innermost wins, as that is what the process itself says."""
        return self._split()[0]

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

    def _split(self) -> Tuple[Optional[int], str]:
        if self._prefix is None:
            self._prefix = split_prefix(self.text)
        return self._prefix


def split_prefix(text: str) -> Tuple[Optional[int], str]:
    """The rank that the prefixes of a line name (None: none does), and the rest of the line."""
    rank = None
    for _ in range(_MOST_PREFIXES):
        found = _PREFIX.match(text)
        if not found:
            break
        rank = int(found.group(1) or found.group(2))
        text = text[found.end():]
    return rank, text


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
