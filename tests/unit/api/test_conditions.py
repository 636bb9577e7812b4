"""Conditions change as the Kubernetes API conventions ask."""

from __future__ import annotations

import pytest

from hedgerow_operator.api import conditions
from hedgerow_operator.api.conditions import find_condition, is_true, set_condition
from hedgerow_operator.api.status import Condition

EARLIER, LATER = 1_767_323_045.0, 1_767_323_105.9
EARLIER_TEXT, LATER_TEXT = "2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z"

RUNNING = Condition(type="Running", status="True", reason="Training", message="step 1", observed_generation=1)


CHANGES = {
    "the same again keeps the time": (RUNNING, EARLIER_TEXT),
    "another message keeps the time": (Condition(type="Running", status="True", reason="Training"), EARLIER_TEXT),
    "another reason keeps the time": (Condition(type="Running", status="True", reason="Recovered"), EARLIER_TEXT),
    "another status moves the time": (Condition(type="Running", status="False", reason="Restarting"), LATER_TEXT),
    "no longer knowing moves the time": (Condition(type="Running", status="Unknown", reason="NotMeasured"), LATER_TEXT),
}


@pytest.mark.parametrize(("new", "want"), CHANGES.values(), ids=CHANGES.keys())
def test_the_transition_time_moves_with_the_status_alone(new: Condition, want: str) -> None:
    before = set_condition((), RUNNING, EARLIER)
    (after,) = set_condition(before, new, LATER)
    assert after.last_transition_time == want
    assert (after.status, after.reason, after.message) == (new.status, new.reason, new.message)


def test_a_new_type_goes_after_the_others_and_leaves_them_alone() -> None:
    before = set_condition((), RUNNING, EARLIER)
    after = set_condition(before, Condition(type="Stalled", status="False", reason="Healthy"), LATER)
    assert after[0] is before[0]
    assert [condition.type for condition in after] == ["Running", "Stalled"]


def test_a_changed_condition_keeps_its_place() -> None:
    before = set_condition(set_condition((), RUNNING, EARLIER), Condition(type="Failed", status="False", reason="X"), 0)
    after = set_condition(before, Condition(type="Running", status="False", reason="Restarting"), LATER)
    assert [condition.type for condition in after] == ["Running", "Failed"]


def test_a_long_message_is_cut_with_an_ellipsis() -> None:
    long = Condition(type="Running", status="True", reason="Training", message="x" * 5000)
    (condition,) = set_condition((), long, EARLIER)
    assert len(condition.message) == conditions.MAX_MESSAGE_LENGTH
    assert condition.message.endswith("x…")


def test_only_true_is_true() -> None:
    listed = (RUNNING, Condition(type="Stalled", status="Unknown", reason="NotMeasured"))
    assert is_true(listed, "Running")
    assert not is_true(listed, "Stalled")
    assert not is_true(listed, "Failed")
    assert find_condition(listed, "Failed") is None
