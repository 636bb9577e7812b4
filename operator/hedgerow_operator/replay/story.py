"""What a replay finds: incidents, alarms and how the run ended. Times are seconds by the log's own clock."""

from __future__ import annotations

from msgspec import Struct

from hedgerow_operator.core.attribution.fault_class import FaultClass

STALL = "Stall"
SLOWDOWN = "Slowdown"
FAILURE = "Failure"
ALERT = "Alert"
RESTART = "Restart"
GIVE_UP = "GiveUp"


class Incident(Struct, kw_only=True):
    """One trouble that a person is told of; opened, action and acted as decided then, the rest as known last."""

    kind: str
    phase: str
    opened: float
    last_progress: float | None
    reason: str
    message: str
    closed: float | None = None
    ranks: tuple[int, ...] = ()
    fault_class: FaultClass = FaultClass.UNKNOWN
    action: str = ALERT
    acted: float | None = None


class RaisedAlarm(Struct, kw_only=True):
    """One broken or drifting number."""

    name: str
    opened: float
    message: str
    closed: float | None = None


class Pace(Struct, frozen=True):
    """One finished step, for drawing: when it ended and how long it took, seconds."""

    ended: float
    seconds: float


class Story(Struct, kw_only=True):
    """The whole replay. absolute: the clock is the time of day; else it counts from the first line."""

    outcome: str
    reason: str
    message: str
    format: str | None
    steps: int
    absolute: bool
    incidents: list[Incident]
    alarms: list[RaisedAlarm]
    paces: list[Pace]
