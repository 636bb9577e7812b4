"""From the events of a log to who is suspect, who waits, and what kind of fault it is.

What a job says about a failure is mostly said by its victims. So the first cause goes before all that follows from it;
of those that only report that they wait, no one is suspect; and where nobody is named, nobody is.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from hedgerow_operator.core.attribution.fault_class import Confidence, FaultClass
from hedgerow_operator.core.attribution.log.causes import Account, cause_account
from hedgerow_operator.core.attribution.log.event import STOPPED, LogEvent
from hedgerow_operator.core.attribution.log.waiting import missing_account, network_account, waiting_account

NOTHING = "the output tells of no failure"
_ONLY_CONSEQUENCES = "what failed first is not in this output: all that it tells follows from something else"


class Explanation(Struct, frozen=True, kw_only=True):
    """As ``hedgerow explain`` prints it. omitted: further events that are not listed."""

    events: tuple[LogEvent, ...] = ()
    suspects: tuple[int, ...] = ()
    victims: tuple[int, ...] = ()
    fault_class: FaultClass = field(default=FaultClass.UNKNOWN, name="class")
    confidence: Confidence = Confidence.NONE
    message: str = NOTHING
    first_failure: LogEvent | None = field(default=None, name="firstFailure")
    evidence: tuple[dict[str, Any], ...] = ()
    omitted: int = 0


def explain(events: Sequence[LogEvent], ranks: int | None = None, omitted: int = 0) -> Explanation:
    """The explanation of a log's events, in the order of their lines; ranks: how many the job has, if known."""
    if not events:
        return Explanation()
    account = (
        cause_account(events, ranks)
        or missing_account(events, ranks)
        or network_account(events)
        or waiting_account(events, ranks)
        or Account(first=events[0], message=_why_ended(events))
    )
    suspects = tuple(sorted(set(account.suspects)))
    victims = tuple(sorted(set(account.victims).difference(suspects)))
    rests_on = account.rests_on or (account.first,)
    return Explanation(
        events=tuple(events),
        suspects=suspects,
        victims=victims,
        fault_class=account.fault_class,
        confidence=account.confidence,
        message=account.message,
        first_failure=account.first,
        evidence=tuple({"line": event.line, "text": event.text} for event in rests_on[:8]),
        omitted=omitted,
    )


def _why_ended(events: Sequence[LogEvent]) -> str:
    reason = next((event.details[STOPPED] for event in events if STOPPED in event.details), None)
    return _ONLY_CONSEQUENCES if reason is None else f"the launcher was told to end the ranks: {reason}"
