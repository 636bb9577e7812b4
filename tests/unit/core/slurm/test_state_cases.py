"""Cases that other projects met, each by its name in the public list of Slurm cases, with its right answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_table import Kind
from hedgerow_operator.core.slurm.states import FORGOTTEN_SECONDS, is_same, means, vanished

NOW = 1_700_000_000.0
RUNNING = SlurmJob(id="7", state="RUNNING", comment="hedgerow:u:1", name="a")
COVERED = {"s07", "s13", "s15", "s16", "s17", "s22", "s23"}


def test_s07_a_job_in_requeue_hold_is_held() -> None:
    assert means(SlurmJob(id="7", state="REQUEUE_HOLD"), NOW).kind is Kind.HELD


def test_s13_going_back_from_running_to_pending_is_no_failure() -> None:
    way = [("PENDING", 0), ("RUNNING", 0), ("SUSPENDED", 0), ("PENDING", 1), ("RUNNING", 1), ("COMPLETED", 1)]
    jobs = [SlurmJob(id="7", state=state, comment="hedgerow:u:1", name="a", restarts=runs) for state, runs in way]
    assert [means(job, NOW).kind for job in jobs] == [
        Kind.WAITING, Kind.ALIVE, Kind.ALIVE, Kind.WAITING, Kind.ALIVE, Kind.ENDED,
    ]  # fmt: skip
    assert {means(job, NOW).cause for job in jobs} == {""}
    assert all(is_same(jobs[0], job) for job in jobs)


def test_s15_a_job_that_vanished_is_asked_for_again_before_it_counts_as_ended() -> None:
    soon, late = (vanished(RUNNING, seconds, NOW) for seconds in (1.0, FORGOTTEN_SECONDS))
    assert (soon.kind, soon.cause) == (Kind.UNKNOWN, "")
    assert (late.kind, late.cause) == (Kind.ENDED, reasons.WORKER_LOST)


def test_s16_a_job_that_is_completing_has_not_ended() -> None:
    completing = SlurmJob(id="7", state="COMPLETED", flags=frozenset({"COMPLETING"}), exit_status=0)
    assert (means(completing, NOW).kind, means(completing, NOW).well) == (Kind.ENDING, False)


def test_s17_that_a_job_may_be_requeued_does_not_say_that_it_was() -> None:
    may = SlurmJob(id="7", state="PENDING", requeue=True, restarts=0)
    assert means(may, NOW).message == "Slurm job 7 waits for its turn"


@pytest.mark.parametrize("requeue", [False, True])
def test_s22_after_a_node_has_failed_nobody_waits_for_slurm_to_start_the_job_again(requeue: bool) -> None:
    found = means(SlurmJob(id="7", state="NODE_FAIL", requeue=requeue), NOW)
    assert (found.kind, found.cause) == (Kind.ENDED, reasons.NODE_LOST)


def test_s23_running_says_nothing_of_progress() -> None:
    found = means(RUNNING, NOW)
    assert (found.kind, found.well, found.message) == (Kind.ALIVE, False, "Slurm job 7 runs")


@pytest.mark.shared_data
def test_the_cases_are_those_of_the_list(shared_data: Path) -> None:
    cases = json.loads((shared_data / "cases" / "slurm_cases.json").read_text(encoding="utf-8"))
    assert {case["id"] for case in cases} >= COVERED
