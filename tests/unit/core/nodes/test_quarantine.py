"""A node is avoided from a fatal finding until some time after it is gone, and never for ever."""

from __future__ import annotations

import dataclasses

import pytest

from hedgerow.wire_agent import (
    ACTION_APPLICATION,
    ACTION_INSPECT,
    ACTION_REBOOT,
    ACTION_RESET,
    DEGRADED,
    FAILED,
    AgentReport,
    Finding,
)
from hedgerow_operator.api.gpu_node import GPUNodeStatus
from tests.unit.core.nodes.builders import LOST, NOW, RULES, after, report, told

NEW = GPUNodeStatus()
SICK = after(NEW, report(LOST))
CLEARED = after(SICK, report(), now=NOW + 100)

FATAL = {
    "an Xid that asks for a reset": Finding("xid", FAILED, "Xid95", ACTION_RESET, "uncontained", 1),
    "an Xid that asks for a reboot": Finding("xid", FAILED, "Xid79", ACTION_REBOOT, "fell off the bus", 1),
    "an Xid that asks for a person": Finding("xid", FAILED, "Xid54", ACTION_INSPECT, "no power", 1),
    "a row that could not be remapped": Finding("remap", FAILED, "RowRemapFailed", ACTION_INSPECT, "failed", 1),
    "fewer GPUs than there are": Finding("presence", FAILED, "GPUMissing", ACTION_REBOOT, "7 of 8"),
}
NOT_FATAL = {
    "an Xid about the program": Finding("xid", FAILED, "Xid31", ACTION_APPLICATION, "page fault", 1),
    "a row that waits to be remapped": Finding("remap", DEGRADED, "RowRemapPending", ACTION_RESET, "4 rows", 1),
}


@pytest.mark.parametrize("finding", FATAL.values(), ids=FATAL)
def test_a_fault_that_needs_repair_quarantines_the_node(finding: Finding) -> None:
    status = after(NEW, report(finding))
    assert status.quarantine is not None
    assert status.quarantine.reason == finding.reason
    assert told(status, "Quarantined") == ("True", finding.reason)


@pytest.mark.parametrize("finding", NOT_FATAL.values(), ids=NOT_FATAL)
def test_other_faults_do_not(finding: Finding) -> None:
    assert after(NEW, report(finding)).quarantine is None


def test_it_lasts_as_long_as_its_cause() -> None:
    assert after(SICK, report(LOST), now=NOW + 10 * 86400).quarantine == SICK.quarantine


# seconds since the cause was gone, what the agent says, whether it still holds
AFTERWARDS: dict[str, tuple[float, AgentReport, bool]] = {
    "just before its time is over": (RULES.quarantine_seconds - 1, report(), True),
    "its time is over": (RULES.quarantine_seconds, report(), False),
    "its time is over and the fault is back": (RULES.quarantine_seconds, report(LOST), True),
}


@pytest.mark.parametrize(("seconds", "heard", "holds"), AFTERWARDS.values(), ids=AFTERWARDS)
def test_it_ends_some_time_after_its_cause_is_gone(seconds: float, heard: AgentReport, holds: bool) -> None:
    status = after(CLEARED, heard, now=NOW + 100 + seconds)
    assert (status.quarantine is not None) is holds
    assert (status.state == "Quarantined") is holds


def test_a_fault_that_comes_back_makes_the_time_begin_anew() -> None:
    back = after(CLEARED, report(LOST), now=NOW + 200)
    assert back.quarantine is not None
    assert back.quarantine.cleared_at is None
    assert SICK.quarantine is not None
    assert back.quarantine.since == SICK.quarantine.since


def test_it_is_kept_while_nothing_is_heard_of_the_node() -> None:
    silent = after(CLEARED, report(), age=31.0, now=NOW + 150)
    later = after(silent, None, now=NOW + 150 + RULES.quarantine_seconds)
    assert later.quarantine == CLEARED.quarantine
    assert later.state == "Quarantined"


def test_it_runs_out_where_the_node_is_never_heard_again() -> None:
    silent = after(SICK, report(LOST), age=31.0, now=NOW + 60)
    assert after(silent, None, now=NOW + 60 + RULES.expiry_seconds - 1).quarantine is not None
    assert after(silent, None, now=NOW + 60 + RULES.expiry_seconds).quarantine is None


def test_silence_of_many_ends_and_begins_none() -> None:
    assert after(SICK, None, others="5 of 9", now=NOW + 60).quarantine == SICK.quarantine
    assert after(after(NEW, report()), None, others="5 of 9", now=NOW + 60).quarantine is None


def test_it_says_since_when_the_cause_is_gone() -> None:
    condition = next(entry for entry in CLEARED.conditions if entry.type == "Quarantined")
    assert CLEARED.quarantine is not None
    assert condition.message.endswith(f"not seen any more since {CLEARED.quarantine.cleared_at}")


def test_a_second_sick_gpu_is_named_too() -> None:
    both = after(SICK, report(LOST, dataclasses.replace(LOST, gpu=5)), now=NOW + 60)
    assert both.quarantine is not None
    assert both.quarantine.gpus == (3, 5)
