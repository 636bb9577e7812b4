"""Puts messages together again that a terminal or a viewer wrapped, even in the middle of a word."""

import re
from collections.abc import Iterator

from hedgerow_operator.core.attribution.log.speaker import Speaker
from hedgerow_operator.core.attribution.log.watchdog import BEGINNINGS, watchdog_event

# A line that begins like this is a message of its own, not the rest of another.
_OWN = re.compile(r"^\s*(?:\[|\d+:\s|srun|slurmstepd|Traceback|File \")")
# Information of glog is no message of the watchdog.
_INFORMATION = re.compile(r"\[I\d{3,4} ")
_MAX_PARTS = 3
_NOBODY = Speaker()


class Wrapping:
    """Holds a line that begins a message of the watchdog until the rest is there."""

    def __init__(self) -> None:
        self._held: str | None = None
        self._line = 0
        self._parts = 0

    def feed(self, text: str, line: int) -> Iterator[tuple[str, int]]:
        """Messages that are whole, with the line where each began."""
        if self._held is not None:
            if not _OWN.match(text):
                yield from self._join(text)
                return
            yield from self.finish()
        if _is_beginning(text):
            self._held, self._line, self._parts = text, line, 1
        else:
            yield text, line

    def finish(self) -> Iterator[tuple[str, int]]:
        """What is held, as it is."""
        if self._held is not None:
            yield self._held, self._line
            self._held = None

    def _join(self, text: str) -> Iterator[tuple[str, int]]:
        joined = f"{self._held}{text}"
        self._parts += 1
        if watchdog_event(joined, _NOBODY, 1) is not None:
            self._held = None
            yield joined, self._line
        elif self._parts >= _MAX_PARTS:
            yield from self.finish()
            yield text, self._line + self._parts - 1
        else:
            self._held = joined


def _is_beginning(text: str) -> bool:
    if not any(beginning in text for beginning in BEGINNINGS) or _INFORMATION.search(text):
        return False
    return watchdog_event(text, _NOBODY, 1) is None
