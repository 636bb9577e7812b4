"""What a state of Slurm means for the TrainingJob that the batch job carries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_document import markdown
from hedgerow_operator.core.slurm.state_table import TABLE, Kind
from hedgerow_operator.core.slurm.states import FORGOTTEN_SECONDS, STUCK_SECONDS, is_same, means, vanished

NOW = 1_700_000_000.0

# The states and flags of squeue(1), JOB STATE CODES, and those that slurmrestd shows beside them.
EVERY_STATE = (
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "CONFIGURING", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL",
    "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "RUNNING", "RESV_DEL_HOLD", "REQUEUE_FED", "REQUEUE_HOLD",
    "REQUEUED", "RESIZING", "REVOKED", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED", "SUSPENDED",
    "TIMEOUT", "LAUNCH_FAILED", "POWER_UP_NODE", "RECONFIG_FAIL", "UPDATE_DB", "EXPEDITING",
)  # fmt: skip


def job(state: str, *flags: str, **fields: Any) -> SlurmJob:
    return SlurmJob(id="12", state=state, flags=frozenset(flags), **fields)


WAITS = {
    "for its turn": ("Priority", "waits for its turn (Priority)"),
    "for a reason that is not told": ("None", "waits for its turn"),
    "for nodes that are down": ("ReqNodeNotAvail, UnavailableNodes:n2", "waits for nodes that are down"),
    "for nodes in a sentence": (
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
        "waits for nodes that are down",
    ),
    "for a limit that others use up": ("QOSMaxJobsPerUserLimit", "waits for its turn"),
}  # fmt: skip


@pytest.mark.parametrize(("reason", "said"), WAITS.values(), ids=WAITS.keys())
def test_a_pending_job_waits(reason: str, said: str) -> None:
    found = means(job("PENDING", reason=reason), NOW)
    assert (found.kind, found.cause, found.hopeless) == (Kind.WAITING, "", False)
    assert f"Slurm job 12 {said}" in found.message


@pytest.mark.parametrize("reason", [
    "PartitionNodeLimit", "PartitionTimeLimit", "BadConstraints", "InvalidAccount", "InvalidQOS", "QOSMinGRES",
    "QOSMaxWallDurationPerJobLimit", "AssocMaxNodePerJobLimit", "QOSMaxGRESPerNode", "DependencyNeverSatisfied",
])  # fmt: skip
def test_a_pending_job_that_can_never_run_is_told(reason: str) -> None:
    found = means(job("PENDING", reason=reason), NOW)
    assert (found.kind, found.hopeless) == (Kind.WAITING, True)
    assert found.message == f"Slurm job 12 cannot run as it was asked for, however long it waits ({reason})"


HELD = {
    "by its user": (job("PENDING", reason="JobHeldUser"), "is held by its user; `scontrol release 12`"),
    "by an administrator": (job("PENDING", reason="JobHeldAdmin"), "is held by an administrator"),
    "after a launch that failed": (job("PENDING", reason="launch_failed_requeued_held"), "is held by Slurm"),
    "after too many requeues": (job("PENDING", reason="JobHoldMaxRequeue"), "is held by Slurm"),
    "after a requeue": (job("PENDING", "REQUEUE_HOLD"), "was put back and is held"),
    "after an exit code that its site names": (job("SPECIAL_EXIT"), "was put back and is held"),
}


@pytest.mark.parametrize(("held", "said"), HELD.values(), ids=HELD.keys())
def test_a_job_is_held(held: SlurmJob, said: str) -> None:
    found = means(held, NOW)
    assert (found.kind, found.cause) == (Kind.HELD, reasons.JOB_HELD)
    assert said in found.message


ENDS = {
    "by itself": (job("COMPLETED"), ""),
    "by its script": (job("FAILED", reason="NonZeroExitCode", exit_status=256), ""),
    "by somebody": (job("CANCELLED"), reasons.CANCELLED_OUTSIDE),
    "by its time limit": (job("TIMEOUT", reason="TimeLimit"), reasons.TIME_LIMIT_REACHED),
    "by another job": (job("PREEMPTED"), reasons.PREEMPTED),
    "by its deadline": (job("DEADLINE"), reasons.DEADLINE_EXCEEDED),
    "with a node": (job("NODE_FAIL", reason="NodeDown"), reasons.NODE_LOST),
    "before it began": (job("BOOT_FAIL"), reasons.PLACEMENT_FAILED),
    "while it was launched": (job("FAILED", reason="JobLaunchFailure"), reasons.PLACEMENT_FAILED),
    "while it was launched, by a flag": (job("FAILED", "LAUNCH_FAILED"), reasons.PLACEMENT_FAILED),
    "by memory": (job("OUT_OF_MEMORY"), reasons.OUT_OF_MEMORY),
    "for another cluster": (job("REVOKED"), reasons.CANCELLED_OUTSIDE),
}


@pytest.mark.parametrize(("ended", "cause"), ENDS.values(), ids=ENDS.keys())
def test_a_job_has_ended(ended: SlurmJob, cause: str) -> None:
    found = means(ended, NOW)
    assert (found.kind, found.cause, found.well) == (Kind.ENDED, cause, ended.state == "COMPLETED")


@pytest.mark.parametrize(("ended", "cause"), ENDS.values(), ids=ENDS.keys())
def test_while_it_completes_it_has_not_ended_but_its_cause_is_known(ended: SlurmJob, cause: str) -> None:
    completing = job(ended.state, "COMPLETING", *ended.flags, reason=ended.reason)
    found = means(completing, NOW)
    assert (found.kind, found.cause, found.well) == (Kind.ENDING, cause, False)


ALIVE = {
    "runs": (job("RUNNING"), Kind.ALIVE, False),
    "runs while it is signalled": (job("RUNNING", "SIGNALING"), Kind.ALIVE, False),
    "is resized": (job("RESIZING"), Kind.ALIVE, False),
    "gets its nodes": (job("RUNNING", "CONFIGURING"), Kind.STARTING, False),
    "has its nodes switched on": (job("RUNNING", "POWER_UP_NODE"), Kind.STARTING, False),
    "is suspended": (job("SUSPENDED"), Kind.ALIVE, True),
    "is stopped": (job("RUNNING", "STOPPED"), Kind.ALIVE, True),
}


@pytest.mark.parametrize(("alive", "kind", "paused"), ALIVE.values(), ids=ALIVE.keys())
def test_a_job_lives_that(alive: SlurmJob, kind: Kind, paused: bool) -> None:
    found = means(alive, NOW)
    assert (found.kind, found.paused, found.cause) == (kind, paused, "")


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED"])
def test_what_ends_by_itself_once_it_was_told_of_its_time_limit_was_ended_by_that(state: str) -> None:
    ran: dict[str, Any] = {"started_at": NOW, "time_limit_seconds": 3600.0, "exit_status": 0}
    told = means(job(state, ended_at=NOW + 3545, **ran), NOW + 3600, lead=60.0)
    assert (told.kind, told.cause, told.well) == (Kind.ENDED, reasons.TIME_LIMIT_REACHED, False)
    early = means(job(state, ended_at=NOW + 3000, **ran), NOW + 3600, lead=60.0)
    assert (early.cause, early.well) == ("", state == "COMPLETED")


def test_what_fails_soon_after_its_start_was_not_ended_by_a_limit_however_short_that_is() -> None:
    failed = job("FAILED", started_at=NOW, time_limit_seconds=60.0, ended_at=NOW + 10)
    assert means(failed, NOW + 60, lead=30.0).cause == ""
    told = job("FAILED", started_at=NOW, time_limit_seconds=60.0, ended_at=NOW + 24)
    assert means(told, NOW + 60, lead=30.0).cause == reasons.TIME_LIMIT_REACHED


def test_who_is_cancelled_near_the_time_limit_was_cancelled_all_the_same() -> None:
    near = job("CANCELLED", started_at=NOW, time_limit_seconds=60.0, ended_at=NOW + 59)
    assert means(near, NOW + 60, lead=30.0).cause == reasons.CANCELLED_OUTSIDE


def test_a_job_that_is_put_back_ends_first_and_then_waits_again() -> None:
    ending = means(job("PENDING", "COMPLETING", "REQUEUED", restarts=1), NOW)
    assert (ending.kind, ending.cause) == (Kind.ENDING, reasons.REQUEUED)
    waiting = means(job("PENDING", reason="BeginTime", restarts=1), NOW)
    assert waiting.kind == Kind.WAITING
    assert waiting.message == "Slurm job 12 waits for its turn, its run 2 (BeginTime)"


def test_an_end_that_takes_too_long_is_told_with_the_nodes_to_look_at() -> None:
    ending = job("COMPLETING", ended_at=NOW, nodes=("n1", "n3"))
    assert not means(ending, NOW + STUCK_SECONDS).stuck
    found = means(ending, NOW + STUCK_SECONDS + 1)
    assert (found.kind, found.stuck) == (Kind.ENDING, True)
    assert found.message == "Slurm job 12 has been ending for 301 s: processes of it on n1, n3 cannot be ended"


def test_nothing_is_concluded_from_a_state_that_a_later_release_of_slurm_brings() -> None:
    found = means(job("DREAMING", "DEEPLY"), NOW)
    assert (found.kind, found.cause) == (Kind.UNKNOWN, "")
    assert found.message.endswith("does not know: DREAMING+DEEPLY")


def test_a_job_that_vanished_while_it_ran_has_reached_its_time_limit_if_that_is_over() -> None:
    ran = job("RUNNING", started_at=NOW - 3600, time_limit_seconds=3600.0)
    assert vanished(ran, FORGOTTEN_SECONDS, NOW).cause == reasons.TIME_LIMIT_REACHED
    assert vanished(ran, FORGOTTEN_SECONDS, NOW - 1).cause == reasons.WORKER_LOST


def test_a_job_that_had_ended_before_it_vanished_has_ended_as_it_did() -> None:
    assert vanished(job("CANCELLED"), FORGOTTEN_SECONDS, NOW).cause == reasons.CANCELLED_OUTSIDE


NUMBERS = {
    "after a requeue": ({"submitted_at": NOW, "restarts": 1}, True),
    "where another job was given the number": ({"comment": "hedgerow:u:2"}, False),
    "where somebody else's was": ({"comment": ""}, False),
}


@pytest.mark.parametrize(("changed", "same"), NUMBERS.values(), ids=NUMBERS.keys())
def test_the_number_of_a_job_is_believed_with_its_comment_only(changed: dict[str, Any], same: bool) -> None:
    known = job("PENDING", comment="hedgerow:u:1", name="llama")
    fields = {"comment": "hedgerow:u:1", "name": "llama", **changed}
    assert is_same(known, job("RUNNING", **fields)) is same


@pytest.mark.parametrize("state", EVERY_STATE)
def test_every_state_of_slurm_is_in_the_table(state: str) -> None:
    assert any(state in row.names for row in TABLE)
    assert means(job(state), NOW).kind is not Kind.UNKNOWN


def test_the_documentation_has_the_table(root: Path) -> None:
    assert markdown() in (root / "docs" / "slurm.md").read_text(encoding="utf-8")
