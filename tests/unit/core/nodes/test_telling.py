"""What people are told of a node: when it is avoided, when it is used again, and when it is not what it was."""

from __future__ import annotations

import dataclasses

from hedgerow_operator.api.gpu_node import GPUNodeStatus
from hedgerow_operator.core.nodes.telling import events
from tests.unit.core.nodes.builders import LOST, NOW, REMAP, RULES, after, report

HEALTHY = after(GPUNodeStatus(), report())


def told(before: GPUNodeStatus, now: GPUNodeStatus) -> list[tuple[str, bool]]:
    """Reasons, and which of them are warnings."""
    return [(event.reason, event.warning) for event in events(before, now)]


def test_a_healthy_node_is_no_news() -> None:
    assert told(GPUNodeStatus(), HEALTHY) == []
    assert told(HEALTHY, after(HEALTHY, report())) == []


def test_a_quarantine_is_told_with_its_cause() -> None:
    sick = after(HEALTHY, report(LOST))
    (event,) = events(HEALTHY, sick)
    assert (event.reason, event.warning) == ("Quarantined", True)
    assert "fallen off the bus" in event.message


def test_a_quarantine_that_lasts_is_told_once_and_for_another_gpu_again() -> None:
    sick = after(HEALTHY, report(LOST))
    assert told(sick, after(sick, report(LOST), now=NOW + 60)) == []
    more = after(sick, report(LOST, dataclasses.replace(LOST, gpu=5)), now=NOW + 60)
    assert told(sick, more) == [("Quarantined", True)]


def test_its_end_is_told_with_the_time_since_when_nothing_was_seen() -> None:
    sick = after(HEALTHY, report(LOST))
    clear = after(sick, report(), now=NOW + 60)
    assert told(sick, clear) == []
    free = after(clear, report(), now=NOW + 60 + RULES.quarantine_seconds)
    (event,) = events(clear, free)
    assert (event.reason, event.warning) == ("Released", False)
    assert clear.quarantine is not None
    assert event.message.endswith(f"Xid79 has not been seen since {clear.quarantine.cleared_at}")


def test_the_end_of_one_whose_agent_is_silent_says_so() -> None:
    sick = after(HEALTHY, report(LOST))
    silent = after(sick, None, age=None, now=NOW + 60)
    free = after(silent, None, age=None, now=NOW + 60 + RULES.expiry_seconds)
    (event,) = events(silent, free)
    assert event.reason == "Released"
    assert "silent" in event.message


def test_a_node_that_is_degraded_is_told_of_once_for_each_reason() -> None:
    mild = after(HEALTHY, report(REMAP))
    (event,) = events(HEALTHY, mild)
    assert (event.reason, event.warning) == ("Degraded", True)
    assert "rows wait" in event.message
    assert told(mild, after(mild, report(REMAP), now=NOW + 60)) == []
    other = after(mild, report(dataclasses.replace(REMAP, reason="ClocksLow")), now=NOW + 60)
    assert told(mild, other) == [("Degraded", True)]
    assert told(mild, after(mild, report(), now=NOW + 60)) == []
