"""The columns of a job."""

import re

import pytest

from hedgerow_operator.api.status import SlurmJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.columns import age
from hedgerow_operator.cli.views.live_columns import HEADER, live_table, step_time
from tests.unit.cli.builders import NOW, TRAINING, condition, job


def table(*jobs: tuple[TrainingJob, str], wide: bool = False, columns: int = 200) -> list[str]:
    return live_table(jobs, wide, NOW, columns)


def test_the_columns_are_those_of_kubectl_and_what_changes_from_second_to_second() -> None:
    header, *rows = table((TRAINING, "eval"), (job("fresh"), ""))
    assert re.split("  +", header) == [
        *("NAME", "STATE", "REASON", "STEP", "STEP TIME", "PHASE", "RANKS", "RESTARTS", "CHECKPOINT"),
        *("VERDICT", "GOODPUT", "AGE"),
    ]
    assert re.split("  +", rows[0]) == [
        *("run", "Running", "Training", "37", "350 ms", "eval", "4/4", "1", "30", "Healthy", "91 %", "3m20s")
    ]
    assert rows[1].split() == ["fresh", "0", "3m20s"]


NARROW = {
    "the width of a usual terminal": (80, {"GOODPUT", "REASON", "AGE"}),
    "somewhat more": (100, {"GOODPUT"}),
    "hardly any": (10, {"GOODPUT", "REASON", "AGE", "RESTARTS"}),
}


@pytest.mark.parametrize("case", NARROW)
def test_a_narrow_terminal_does_without_the_columns_that_tell_least(case: str) -> None:
    columns, missing = NARROW[case]
    header, _row = table((TRAINING, "step"), columns=columns)
    assert set(HEADER) - set(re.split("  +", header)) == missing


def test_wide_adds_namespace_attempt_and_incident() -> None:
    header, row = table((TRAINING, ""), wide=True, columns=80)
    assert re.split("  +", header) == ["NAMESPACE", *HEADER, "ATTEMPT", "INCIDENT"]
    assert row.split()[0] == "default"
    assert row.split()[-1] == "2"


def test_where_some_job_is_on_slurm_its_number_there_and_why_it_waits_are_shown() -> None:
    told = SlurmJobStatus(job_id="12", placement=1, state="PENDING", reason="Resources")
    waits = job("far", state="Starting", reason="WaitingForWorkers", slurm=told)
    header, here, there = table((TRAINING, "step"), (waits, ""))
    assert re.split("  +", header)[:4] == ["NAME", "STATE", "REASON", "SLURM"]
    assert "12 PENDING (Resources)" in there
    assert "PENDING" not in here
    narrow, *_ = table((TRAINING, "step"), (waits, ""), columns=60)
    assert "SLURM" in narrow


@pytest.mark.parametrize(("millis", "text"), [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (75_400, "75 s")])
def test_step_times_are_short(millis: int, text: str) -> None:
    assert step_time(millis) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0s"), (119, "119s"), (120, "2m0s"), (10799, "179m59s"), (10800, "3h0m"), (200000, "2d7h")],
)
def test_ages_are_short(seconds: float, text: str) -> None:
    assert age(seconds) == text


def test_a_run_that_ended_by_ctrl_c_is_stopped_and_not_suspended() -> None:
    suspended = {"state": "Suspended", "reason": "Suspended", "conditions": (condition("Suspended"),)}
    (_header, stopped, asked) = table((job(**suspended), ""), (job(suspend=True, **suspended), ""))
    assert stopped.split()[1:3] == ["Stopped", "Interrupted"]
    assert asked.split()[1:3] == ["Suspended", "Suspended"]
