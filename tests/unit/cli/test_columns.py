"""The columns of a job."""

import pytest

from hedgerow_operator.cli.views.columns import age, table
from tests.unit.cli.builders import NOW, TRAINING, condition, job


def test_the_columns_are_those_of_kubectl() -> None:
    assert table([(TRAINING, ""), (job("fresh"), "")], wide=False, now=NOW) == [
        "NAME   STATE    REASON    STEP  RANKS  RESTARTS  CHECKPOINT  GOODPUT  AGE",
        "run    Running  Training  37    4/4    1         30          91       3m20s",
        "fresh                                  0                              3m20s",
    ]


def test_wide_adds_namespace_attempt_and_incident() -> None:
    header, row = table([(TRAINING, "")], wide=True, now=NOW)
    assert header.split() == [
        "NAMESPACE",
        *["NAME", "STATE", "REASON", "STEP", "RANKS", "RESTARTS", "CHECKPOINT", "GOODPUT", "AGE"],
        "ATTEMPT",
        "INCIDENT",
    ]
    assert row.split()[0] == "default"
    assert row.split()[-1] == "2"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0s"), (119, "119s"), (120, "2m0s"), (10799, "179m59s"), (10800, "3h0m"), (200000, "2d7h")],
)
def test_ages_are_short(seconds: float, text: str) -> None:
    assert age(seconds) == text


PHASES = {
    "ranks that step": ("step", "37"),
    "ranks that do something else": ("eval", "37 eval"),
    "ranks that were not heard yet": ("", "37"),
}


@pytest.mark.parametrize("case", PHASES)
def test_the_step_stands_with_the_phase_of(case: str) -> None:
    phase, cell = PHASES[case]
    (_header, row) = table([(TRAINING, phase)], wide=False, now=NOW)
    assert f" {cell}  " in row


def test_before_its_first_step_a_job_shows_its_phase_alone() -> None:
    (_header, row) = table([(job(state="Running", reason="Training"), "init")], wide=False, now=NOW)
    assert row.split()[:4] == ["run", "Running", "Training", "init"]


def test_a_run_that_ended_by_ctrl_c_is_stopped_and_not_suspended() -> None:
    suspended = {"state": "Suspended", "reason": "Suspended", "conditions": (condition("Suspended"),)}
    (_header, stopped, asked) = table([(job(**suspended), ""), (job(suspend=True, **suspended), "")], False, NOW)
    assert stopped.split()[1:3] == ["Stopped", "Interrupted"]
    assert asked.split()[1:3] == ["Suspended", "Suspended"]
