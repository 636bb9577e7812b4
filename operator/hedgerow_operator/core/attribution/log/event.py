"""Something that a job's output tells of."""

import re
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from hedgerow_operator.core.attribution.fault_class import FaultClass

_MAX_TEXT = 240
# Among the details of an end: why the launcher was told to end the rank.
STOPPED = "stopped"
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class EventKind(StrEnum):
    """WATCHDOG_STUCK: no progress, and no collective is named. DUMP_SIGNAL: only relays another's trouble."""

    WATCHDOG_TIMEOUT = "WatchdogTimeout"
    WATCHDOG_STUCK = "WatchdogStuck"
    DUMP_SIGNAL = "DumpSignal"
    COLLECTIVE_MISMATCH = "CollectiveMismatch"
    NETWORK_ERROR = "NetworkError"
    EXCEPTION = "Exception"
    OUT_OF_MEMORY = "OOM"
    EXIT = "Exit"


class LogEvent(Struct, frozen=True, kw_only=True):
    """One event. rank: the global rank that says it, as far as the line tells (None: it does not). line: from 1.

    consequence: follows from an earlier failure, of another rank or of this one. text: the line. details: what else it
    tells, by name in camel case; times in milliseconds.
    """

    kind: EventKind
    rank: int | None = None
    group: str | None = None
    op: str | None = None
    seq: int | None = None
    line: int
    fault_class: FaultClass = field(default=FaultClass.UNKNOWN, name="class")
    consequence: bool = False
    text: str = ""
    details: dict[str, Any] = {}


def shortened(text: str) -> str:
    """The line as events quote it: no longer than a few lines of a terminal, and nothing that steers one."""
    plain = "".join(
        letter if letter.isprintable() else " " for letter in _COLOURS.sub("", text[: 2 * _MAX_TEXT])
    ).strip()
    return plain if len(plain) <= _MAX_TEXT else plain[: _MAX_TEXT - 1] + "…"
