"""A place that says itself why a placement ended, waits or cannot be made: what follows for the job."""

import dataclasses
from typing import Any

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import find_condition
from hedgerow_operator.api.status import ExcludedNode, SlurmJobStatus, Stopping, TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.decide import decide, too_tight
from hedgerow_operator.core.fencing import forceable
from hedgerow_operator.core.ladder import respond
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_PENDING, Heard, PlacementSeen, Seen
from hedgerow_operator.core.step import GATHERING, PLACING, REMOVING, RUNNING, STOPPING
from hedgerow_operator.core.trouble import Trouble, find_trouble
from tests.unit.core.builders import exited, make_gang, make_job, make_rank, make_report, make_worker

NOW = 1_800_000_000.0


def ended(cause: str, **silent: Any) -> Trouble:
    """The trouble of a placement of two workers that its place ended for this cause; silent: of the second one."""
    workers = (make_worker(0, phase=WORKER_FAILED), make_worker(1, **{"phase": WORKER_FAILED, **silent}))
    placement = PlacementSeen(
        attempt=1, workers=workers, ended=WORKER_FAILED, ended_reason="Slurm job 7 is over", cause=cause)
    gang = make_gang(make_rank(0), workers=workers, silent=(1,))
    found = find_trouble(msgspec.structs.replace(gang, placement=placement), starting=True, running=True)
    assert found is not None
    return found


# Cause, whether it counts for maxRestarts, what follows.
CAUSES: dict[str, tuple[str, bool, str]] = {
    "the time limit": (reasons.TIME_LIMIT_REACHED, False, "NewPlacement"),
    "a preemption": (reasons.PREEMPTED, False, "NewPlacement"),
    "a requeue by somebody else": (reasons.REQUEUED, False, "NewPlacement"),
    "a node that failed": (reasons.NODE_LOST, True, "NewPlacement"),
    "memory that ran out": (reasons.OUT_OF_MEMORY, True, "NewPlacement"),
    "a failure of the script": (reasons.PLACEMENT_FAILED, True, "NewPlacement"),
    "a person who cancelled it": (reasons.CANCELLED_OUTSIDE, False, "Fail"),
    "its own deadline": (reasons.DEADLINE_EXCEEDED, False, "Fail"),
}


@pytest.mark.parametrize("case", CAUSES)
def test_after_an_end_by(case: str) -> None:
    cause, counted, action = CAUSES[case]
    trouble = ended(cause)
    stopping = respond(make_job().spec, TrainingJobStatus(attempt=1), trouble, True, NOW)
    assert (stopping.reason, stopping.counted, stopping.action) == (cause, counted, action)
    assert stopping.message == "Slurm job 7 is over"


def test_the_node_that_cannot_be_asked_is_the_one_that_failed() -> None:
    trouble = ended(reasons.NODE_LOST, phase="Unknown", node_silent=True)
    assert (trouble.node, trouble.ranks, trouble.exclude) == ("node2", (1,), True)


def test_no_node_is_blamed_when_all_answer() -> None:
    assert (ended(reasons.NODE_LOST).node, ended(reasons.NODE_LOST).exclude) == ("", False)


@pytest.mark.parametrize(("stage", "forced"), [(wire.STAGE_STOPPED, True), (wire.STAGE_RUNNING, False)])
def test_a_worker_on_a_silent_node_whose_launcher_has_stopped_need_not_be_waited_for(stage: str, forced: bool) -> None:
    worker = make_worker(0, node_silent=True, terminating=True)
    gang = make_gang(make_rank(0), workers=(worker,))
    heard = gang.launchers[0]
    said = msgspec.structs.replace(heard, report=dataclasses.replace(heard.report, stage=stage))
    gang = msgspec.structs.replace(gang, launchers={0: said})
    assert forceable(gang, 120.0, None) == ((worker.name,) if forced else ())


def excluded(*names: str, reason: str = reasons.NO_PROGRESS) -> tuple[ExcludedNode, ...]:
    return tuple(ExcludedNode(name=name, reason=reason, until=format_time(NOW + 3600)) for name in names)


# Exclusions, seconds in the stage, what is left of them, whether that is told by an event.
TIGHT: dict[str, tuple[tuple[ExcludedNode, ...], float, tuple[str, ...], bool]] = {
    "is waited for a while": (excluded("n3"), 599.0, ("n3",), False),
    "gives back the weakest evidence then": (excluded("n3"), 600.0, (), True),
    "never gives back what a fatal fault is behind": (
        excluded("n3", reason=reasons.HARDWARE_FAULT), 9000.0, ("n3",), False),
}


@pytest.mark.parametrize("case", TIGHT)
def test_an_exclusion_for_which_no_placement_is_taken(case: str) -> None:
    nodes, waited, left, told = TIGHT[case]
    status = TrainingJobStatus(attempt=2, placement=2, attempt_stage=PLACING, excluded_nodes=nodes)
    seen = Seen(placements=(), stage_seconds=waited, too_tight="Requested node configuration is not available")
    plan = too_tight(make_job(status=status), seen, NOW)
    assert tuple(entry.name for entry in plan.status.excluded_nodes) == left
    assert [event.reason for event in plan.events] == ([reasons.EXCLUSION_TOO_TIGHT] if told else [])
    assert plan.actions == ()
    if not told:
        running = find_condition(plan.status.conditions, "Running")
        assert running is not None
        assert (running.status, running.reason) == ("False", reasons.EXCLUSION_TOO_TIGHT)
        assert "n3" in running.message


@pytest.mark.parametrize(("how", "reason"), [
    ({"held": True}, reasons.JOB_HELD), ({"hopeless": True}, reasons.NO_VALID_PLACEMENT),
    ({}, reasons.WAITING_FOR_WORKERS),
])
def test_a_placement_that_waits_says_why(how: dict[str, bool], reason: str) -> None:
    placement = PlacementSeen(
        attempt=1, workers=(make_worker(0, phase=WORKER_PENDING, node=""),), waiting="Slurm job 7 waits", **how,
        slurm=SlurmJobStatus(job_id="7", placement=1, state="PENDING"))
    status = TrainingJobStatus(attempt=1, placement=1, attempt_stage=GATHERING)
    plan = decide(make_job(status=status), Seen(placements=(placement,)), NOW)
    running = find_condition(plan.status.conditions, "Running")
    assert running is not None
    assert (running.reason, running.message) == (reason, "Slurm job 7 waits")
    assert plan.status.slurm == placement.slurm


@pytest.mark.parametrize(("stage", "cause", "action"), [
    (STOPPING, reasons.CANCELLED_OUTSIDE, "Fail"),
    (REMOVING, reasons.CANCELLED_OUTSIDE, "Fail"),
    (STOPPING, reasons.TIME_LIMIT_REACHED, "NewPlacement"),
])
def test_whoever_cancels_it_while_the_next_attempt_is_on_its_way_wants_none(
    stage: str, cause: str, action: str
) -> None:
    workers = (make_worker(0, phase=WORKER_FAILED),)
    placement = PlacementSeen(attempt=1, workers=workers, ended=WORKER_FAILED, ended_reason="Slurm job 7 was cancelled",
                              cause=cause)
    plan = Stopping(action="NewPlacement", reason=reasons.NO_PROGRESS, since=format_time(NOW))
    status = TrainingJobStatus(attempt=1, placement=1, attempt_stage=stage, stopping=plan)  # type: ignore[arg-type]
    decided = decide(make_job(status=status), Seen(placements=(placement,)), NOW).status
    assert decided.stopping is not None
    assert decided.stopping.action == action
    assert (decided.stopping.reason == cause) is (action == "Fail")


@pytest.mark.parametrize("on_slurm", [True, False])
def test_who_had_the_workers_terminated_is_told_by_slurm_when_they_have_ended(on_slurm: bool) -> None:
    gang = make_gang(make_rank(0))
    heard = gang.launchers[0]
    report = dataclasses.replace(heard.report, stage=wire.STAGE_STOPPED, stop_cause=wire.STOP_SIGNAL)
    told = SlurmJobStatus(job_id="7", placement=1) if on_slurm else None
    placement = PlacementSeen(attempt=1, workers=(make_worker(0),), slurm=told)
    gang = msgspec.structs.replace(
        gang, launchers={0: msgspec.structs.replace(heard, report=report)}, placement=placement)
    trouble = find_trouble(gang, starting=True, running=True)
    assert trouble is not None
    assert (trouble.reason, trouble.settled) == (reasons.WORKER_LOST, not on_slurm)


@pytest.mark.parametrize("suspended", [True, False])
def test_a_fence_that_ran_out_while_somebody_had_suspended_the_job_is_not_counted(suspended: bool) -> None:
    gang = make_gang(make_rank(0))
    heard = gang.launchers[0]
    report = dataclasses.replace(heard.report, stage=wire.STAGE_STOPPED, stop_cause=wire.STOP_FENCE)
    placement = PlacementSeen(attempt=1, workers=(make_worker(0),), was_paused=suspended)
    gang = msgspec.structs.replace(
        gang, launchers={0: msgspec.structs.replace(heard, report=report)}, placement=placement)
    trouble = find_trouble(gang, starting=True, running=True)
    assert trouble is not None
    assert (trouble.reason, trouble.counted) == (reasons.RANKS_KILLED, not suspended)


def test_a_job_that_somebody_suspends_on_slurm_is_left_alone_and_says_so() -> None:
    job = make_job(status=TrainingJobStatus(attempt=1, placement=1, attempt_stage=RUNNING))
    paused = PlacementSeen(attempt=1, workers=(make_worker(0, node_gone=True),), paused="Slurm job 7 is suspended")
    report = make_report(*(exited(rank) for rank in range(4)))
    seen = Seen(placements=(paused,), heard=(Heard(report=report, age=0.1),), listening_seconds=600.0)
    plan = decide(job, seen, NOW)
    running = find_condition(plan.status.conditions, "Running")
    assert running is not None
    assert (plan.status.attempt_stage, running.reason) == (RUNNING, reasons.SUSPENDED_OUTSIDE)
    assert running.message == "Slurm job 7 is suspended"


def test_what_the_job_was_on_slurm_stays_told_when_it_is_gone() -> None:
    known = SlurmJobStatus(job_id="7", placement=1, state="RUNNING")
    status = TrainingJobStatus(attempt=1, placement=1, attempt_stage=RUNNING, slurm=known)
    assert decide(make_job(status=status), Seen(placements=None), NOW).status.slurm == known
