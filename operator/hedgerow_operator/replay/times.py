"""Times of a replay for people: the time of day in UTC, or how long after the first line."""

from __future__ import annotations

from hedgerow_operator.core import phrases


class Times:
    """``absolute`` is set once the log has told a time of day."""

    def __init__(self) -> None:
        self.absolute = False

    def shown(self, seconds: float) -> str:
        """``13:32:08 UTC`` or ``12 min 5 s``."""
        if not self.absolute:
            return phrases.seconds(seconds)
        return phrases.clock(seconds)
