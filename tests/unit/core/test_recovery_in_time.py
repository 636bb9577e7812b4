"""Whole lives of jobs in a pretended world: what ends where, and what it takes to get there."""

from hedgerow_operator.api import reasons
from hedgerow_operator.core.step import ENDED, RUNNING, SUSPENDED
from tests.unit.core.builders import make_job
from tests.unit.core.world import START, World
from tests.unit.core.world_parts import Placement

TWO = {"workers": 2, "ranksPerWorker": 2}


def running_world(spec: dict[str, object] | None = None) -> World:
    """A job of two workers that has trained for a while."""
    return World(make_job({**TWO, **(spec or {})})).until(RUNNING).run(30.0)


def no_room_world(workers: set[int]) -> World:
    """A job some of whose workers find no room, with a gang timeout of a minute."""
    world = World(make_job({**TWO, "health": {"gangTimeoutSeconds": 60}}))

    def refuse(placement: Placement) -> None:
        for worker in workers:
            placement.unschedulable.add(worker)
            placement.launchers[worker].heard = False

    world.on_placement = refuse
    return world


def test_a_healthy_job_trains_without_incident_and_succeeds() -> None:
    world = running_world()
    for launcher in world.launchers:
        launcher.steps = world.status.step + 20
    world.until(ENDED)
    assert (world.status.state, world.status.restarts, world.status.incident) == ("Succeeded", 0, None)
    assert {event.reason for event in world.events} == {
        reasons.PLACEMENT_CREATED, reasons.ATTEMPT_STARTED, reasons.ALL_RANKS_FINISHED}


def test_a_stall_names_the_rank_and_resumes_in_place_from_the_newest_checkpoint() -> None:
    world = running_world()
    world.launchers[1].hang_at = world.launchers[1].step
    world.run(30.0)
    status = world.status
    assert (status.attempt, status.placement, status.restarts, status.restarts_counted) == (2, 1, 1, 1)
    assert status.history[0].ranks == (2, 3)
    assert status.resume_step == 10 * (status.history[0].last_step // 10)
    assert status.lost_steps == status.history[0].last_step - status.resume_step


def test_where_ranks_can_be_started_only_once_a_new_placement_goes_on() -> None:
    world = running_world()
    world.launchers[1].hang_at = world.launchers[1].step
    world.launchers[0].once = True
    world.run(60.0)
    status = world.status
    assert (status.attempt, status.placement, status.restarts_counted) == (2, 2, 1)


def test_the_incident_closes_once_the_next_attempt_trains() -> None:
    world = running_world()
    world.launchers[1].hang_at = world.launchers[1].step
    world.run(45.0)
    assert (world.status.state, world.status.incident) == ("Running", None)
    opened = [event for event in world.events if event.warning and event.reason == reasons.NO_PROGRESS]
    assert [event.reason for event in world.events].count(reasons.RECOVERED) == 1
    assert len(opened) == 1


def test_a_deleted_worker_brings_a_new_placement_and_counts_nothing() -> None:
    world = running_world()
    world.placements[1].deleting.add(0)
    world.run(15.0)
    assert (world.status.attempt, world.status.placement, world.status.restarts_counted) == (2, 2, 0)
    assert world.status.state == "Running"


def test_a_rank_that_exits_is_named_and_restarted() -> None:
    world = running_world()
    world.launchers[0].exit_at = world.launchers[0].step + 2
    world.run(20.0)
    assert world.status.history[0].reason == reasons.RANK_EXITED
    assert world.status.state == "Running"


def test_the_same_exception_at_the_same_step_twice_is_the_scripts_fault() -> None:
    world = running_world()
    world.launchers[0].tail = ["Traceback (most recent call last):", "ValueError: label 11 is out of range"]
    world.launchers[0].exit_at = world.launchers[0].step + 5
    world.launchers[0].stubborn = True
    world.until(ENDED)
    failed = next(condition for condition in world.status.conditions if condition.type == "Failed")
    assert (failed.status, failed.reason, world.status.restarts) == ("True", reasons.APPLICATION_FAULT, 1)
    assert "ValueError: label 11 is out of range" in failed.message


def test_attempts_that_bring_no_newer_checkpoint_end_the_job() -> None:
    world = running_world()
    for _ in range(600):
        world.checkpoints.clear()
        for launcher in world.launchers:
            launcher.hang_at = launcher.step if launcher.step > 5 else None
        world.run(1.0)
    assert world.status.attempt_stage == ENDED
    assert (world.status.reason, world.status.restarts) == (reasons.NO_CHECKPOINT_PROGRESS, 3)
    assert [entry.placement for entry in world.status.history] == [1, 1, 3]


def test_max_restarts_is_never_exceeded() -> None:
    world = running_world({"recovery": {"maxRestarts": 2}})
    for _ in range(60):
        for launcher in world.launchers:
            launcher.exit_at = launcher.exit_at or launcher.step + 25
        world.run(5.0)
    assert world.status.reason == reasons.MAX_RESTARTS_EXCEEDED
    assert world.status.restarts == world.status.restarts_counted == 2


def test_suspending_stops_and_resuming_goes_on_from_the_checkpoint() -> None:
    world = running_world()
    job = make_job({**TWO, "suspend": True})
    reached = world.status.step
    world.job = type(job)(metadata=world.job.metadata, spec=job.spec, status=world.status)
    world.until(SUSPENDED)
    assert (world.placements, world.status.state) == ({}, "Suspended")
    world.job = type(job)(metadata=world.job.metadata, spec=make_job(TWO).spec, status=world.status)
    world.until(RUNNING).run(10.0)
    assert (world.status.attempt, world.status.restarts_counted) == (2, 0)
    assert 0 < world.status.resume_step <= reached


def test_a_gang_with_one_worker_that_finds_no_room_is_taken_down_and_tried_again() -> None:
    world = no_room_world({1})
    world.run(70.0)
    assert reasons.GANG_TIMEOUT in [event.reason for event in world.events]
    world.on_placement = lambda placement: None
    world.run(120.0)
    assert (world.status.attempt, world.status.restarts_counted, world.status.state) == (1, 0, "Running")


def test_a_gang_with_no_worker_placed_waits() -> None:
    world = no_room_world({0, 1})
    world.run(200.0)
    assert world.placements[1].created == START + 0.5
    running = next(condition for condition in world.status.conditions if condition.type == "Running")
    assert (running.reason, running.message) == (
        reasons.WAITING_FOR_WORKERS,
        "2 of 2 workers are missing; worker 0 no node has room; worker 1 no node has room")


def test_mode_observe_says_what_it_would_do_and_does_nothing() -> None:
    world = running_world({"recovery": {"mode": "Observe"}})
    world.launchers[1].hang_at = world.launchers[1].step
    world.run(120.0)
    assert (world.status.attempt, world.status.state) == (1, "Stalled")
    assert world.status.incident.action.startswith("would be: attempt 2 starts in place")
    assert {command for launcher in world.launchers for command in launcher.commands} == {"start", "dump"}


def test_steady_training_writes_nothing_but_figures() -> None:
    world = running_world()
    old = world.status
    world.run(60.0)
    changed = {name for name in old.__struct_fields__ if getattr(old, name) != getattr(world.status, name)}
    assert changed <= {"step", "checkpoint", "goodput_percent", "ranks", "step_millis"}


def test_ranks_that_do_not_end_when_others_have_are_restarted_in_place() -> None:
    world = running_world()
    world.launchers[0].steps = world.launchers[0].step + 5
    world.launchers[1].hang_at = world.launchers[0].steps - 1
    world.run(800.0)
    ended = world.status.history[0]
    assert (ended.reason, ended.ranks, ended.counted, ended.placement) == (reasons.ENDING_TIMEOUT, (2, 3), True, 1)
