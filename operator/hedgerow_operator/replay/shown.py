"""A replay's story as the object for programs, and as lines for people."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.core import phrases
from hedgerow_operator.replay.story import Incident, RaisedAlarm, Story
from hedgerow_operator.replay.times import Times


def as_object(story: Story) -> dict[str, Any]:
    """The object that ``-o json`` prints; times in milliseconds: of the epoch where the log has them."""
    return {
        "outcome": story.outcome,
        "reason": story.reason,
        "format": story.format,
        "steps": story.steps,
        "incidents": [_incident(incident) for incident in story.incidents],
        "alarms": [_alarm(alarm) for alarm in story.alarms],
    }


def lines_of(story: Story) -> list[str]:
    """The story for people."""
    times = Times()
    times.absolute = story.absolute
    lines = [
        f"{story.outcome} ({story.reason}): {story.message}.",
        f"  {story.steps} steps, format {story.format or 'not recognised'}",
    ]
    if not story.incidents:
        lines.append("  no incident")
    for incident in story.incidents:
        until = f"until {times.shown(incident.closed)}" if incident.closed is not None else "not closed"
        who = f", {phrases.ranks(incident.ranks)}" if incident.ranks else ""
        lines.append(
            f"  {incident.kind} from {times.shown(incident.opened)}, {until}: {incident.action} "
            f"({incident.reason}, {incident.fault_class}{who})"
        )
        lines.append(f"    {incident.message}")
    for alarm in story.alarms:
        until = f"until {times.shown(alarm.closed)}" if alarm.closed is not None else "not closed"
        lines.append(f"  alarm {alarm.name} from {times.shown(alarm.opened)}, {until}: {alarm.message}")
    return lines


def _incident(incident: Incident) -> dict[str, Any]:
    return {
        "kind": incident.kind,
        "phase": incident.phase,
        "openedAtMillis": _millis(incident.opened),
        "lastProgressMillis": _millis(incident.last_progress),
        "closedAtMillis": _millis(incident.closed),
        "ranks": list(incident.ranks),
        "class": incident.fault_class,
        "action": incident.action,
        "actionAtMillis": _millis(incident.acted),
        "reason": incident.reason,
        "message": incident.message,
    }


def _alarm(alarm: RaisedAlarm) -> dict[str, Any]:
    return {
        "name": alarm.name,
        "openedAtMillis": _millis(alarm.opened),
        "closedAtMillis": _millis(alarm.closed),
        "message": alarm.message,
    }


def _millis(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000.0)
