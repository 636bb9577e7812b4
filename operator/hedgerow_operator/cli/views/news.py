"""Which changes of a condition are news to somebody who reads the events too. Pure."""

from enum import Enum

from hedgerow_operator.api import conditions as kinds
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FALSE, TRUE, UNKNOWN
from hedgerow_operator.api.status import Condition

Told = tuple[str, str]  # status and reason

_SUSPENSION = (reasons.SUSPENDED, reasons.SUSPENDING)


class When(Enum):
    """NOW: to be told at once. LATER: once it has lasted. NEVER: events tell it, or it goes without saying."""

    NOW = "now"
    LATER = "later"
    NEVER = "never"


def told(condition: Condition) -> Told:
    """What is told of a condition, without its message."""
    return condition.status, condition.reason


def importance(condition: Condition, before: Told, asked_to_suspend: bool) -> When:
    """When to tell this condition, of which ``before`` was told last.

    asked_to_suspend: the job's own spec asks for it; else the run was interrupted, and says so in its own words.
    """
    if told(condition) == before:
        return When.NEVER
    if condition.type == kinds.RUNNING:
        return _running(condition, before)
    if condition.type == kinds.STALLED:
        return _stalled(condition, before)
    if condition.status != TRUE:
        return When.NEVER
    if condition.type == kinds.SUSPENDED and not asked_to_suspend:
        return When.NEVER
    return When.NOW if before[0] != TRUE else When.LATER


def _running(condition: Condition, before: Told) -> When:
    if condition.reason in (*_SUSPENSION, reasons.ALL_RANKS_FINISHED):
        return When.NEVER
    begins = condition.status == TRUE != before[0] and condition.reason != reasons.ENDING
    return When.NOW if begins else When.LATER


def _stalled(condition: Condition, before: Told) -> When:
    if condition.status == TRUE or condition.reason == reasons.SUSPECT:
        return When.NOW
    if condition.status == UNKNOWN:
        return When.LATER
    cleared = condition.reason == reasons.HEALTHY and before[0] == UNKNOWN
    return When.NOW if cleared and condition.status == FALSE else When.NEVER
