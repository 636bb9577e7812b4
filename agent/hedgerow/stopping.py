"""The ladder that ends ranks: TERM, grace, KILL. Pure: says which signal is due."""

from __future__ import annotations

import dataclasses
from typing import Optional

SEND_TERM = "term"
SEND_KILL = "kill"


@dataclasses.dataclass(frozen=True)
class Stop:
    """Ranks are being stopped since ``began``. Times are CLOCK_BOOTTIME seconds; kill: without grace."""

    began: float
    grace_seconds: float
    kill: bool
    cause: str
    term_sent: bool = False


def due(stop: Stop, now: float) -> Optional[str]:
    """The signal to send now to whatever is alive; KILL is due again and again, for what was forked meanwhile."""
    if stop.kill or now >= stop.began + stop.grace_seconds:
        return SEND_KILL
    return None if stop.term_sent else SEND_TERM


def harden(stop: Stop, kill: bool, grace_seconds: float, now: float) -> Stop:
    """A further order to stop can only make it sooner."""
    end = min(stop.began + stop.grace_seconds, now + grace_seconds)
    return dataclasses.replace(stop, kill=stop.kill or kill, grace_seconds=end - stop.began)
