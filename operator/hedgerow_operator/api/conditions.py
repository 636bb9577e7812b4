"""Condition types, and the one way to change a list of conditions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hedgerow_operator.api.status import Condition, ConditionStatus
from hedgerow_operator.api.times import format_time

RUNNING = "Running"
STALLED = "Stalled"
DEGRADED = "Degraded"
SUCCEEDED = "Succeeded"
FAILED = "Failed"
SUSPENDED = "Suspended"
TYPES = (RUNNING, STALLED, DEGRADED, SUCCEEDED, FAILED, SUSPENDED)

TRUE: ConditionStatus = "True"
FALSE: ConditionStatus = "False"
UNKNOWN: ConditionStatus = "Unknown"

# A message must fit a terminal and an event; etcd keeps every version of it.
MAX_MESSAGE_LENGTH = 1024


def set_condition(conditions: Sequence[Condition], new: Condition, now: float) -> tuple[Condition, ...]:
    """The conditions with ``new`` in place of the one of its type, or after the others.

    ``now``: seconds since the epoch. lastTransitionTime stays unless the status changes; a long message is cut.
    """
    old = find_condition(conditions, new.type)
    moment = format_time(now) if old is None or old.status != new.status else old.last_transition_time
    settled = msgspec.structs.replace(new, last_transition_time=moment, message=shorten(new.message))
    if old is None:
        return (*conditions, settled)
    return tuple([settled if condition.type == new.type else condition for condition in conditions])


def find_condition(conditions: Sequence[Condition], kind: str) -> Condition | None:
    """The condition of this type, or None."""
    for condition in conditions:
        if condition.type == kind:
            return condition
    return None


def is_true(conditions: Sequence[Condition], kind: str) -> bool:
    """Whether the condition of this type is there and True."""
    condition = find_condition(conditions, kind)
    return condition is not None and condition.status == TRUE


def shorten(message: str) -> str:
    """The message, cut to MAX_MESSAGE_LENGTH characters with an ellipsis."""
    if len(message) <= MAX_MESSAGE_LENGTH:
        return message
    return message[: MAX_MESSAGE_LENGTH - 1] + "…"
