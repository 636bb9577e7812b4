"""The time of day may jump: no wait for ranks that may still live ends sooner by that."""

from collections.abc import Callable

import pytest

from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.core.fencing import MARGIN_SECONDS
from hedgerow_operator.core.step import PLACING, REMOVING, RUNNING, STOPPING
from hedgerow_operator.reconcile.stage_clock import StageClock
from tests.unit.core.builders import make_job
from tests.unit.core.faults_of_world import FAULTS
from tests.unit.core.world import World

FENCE = 30
SPEC = {
    "workers": 2, "ranksPerWorker": 2, "recovery": {"fenceSeconds": FENCE, "graceSeconds": 20},
}
HOUR = 3600.0


def training() -> World:
    return World(make_job(SPEC)).until(RUNNING).run(20.0)


def cut_off_and_deleted(world: World) -> None:
    """Worker 1 trains on where nobody can ask it, and its placement is to go."""
    FAULTS["cut_node"](world)
    world.placements[1].deleting.add(1)


def deleted_by_force(world: World) -> None:
    FAULTS["slow_down"](world)
    for launcher in world.launchers:
        launcher.slow_stop = 15.0
    FAULTS["force_delete"](world)


def start_under_way(world: World) -> None:
    """Worker 1 hears late of everything, and worker 0 ends at once."""
    for launcher in world.launchers:
        launcher.answers_late = 5.0
    FAULTS["fail"](world)


SITUATIONS: dict[str, Callable[[World], None]] = {
    "a worker on a node that cannot be asked": cut_off_and_deleted,
    "ranks whose pod was deleted by force": deleted_by_force,
    "an order to start that is under way": start_under_way,
}


@pytest.mark.parametrize("restarts", [False, True], ids=["in one life of the operator", "in two lives"])
@pytest.mark.parametrize("stage", [STOPPING, REMOVING, PLACING])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_never_two_attempts_when_the_clock_jumps_with(situation: str, stage: str, restarts: bool) -> None:
    world = training()
    SITUATIONS[situation](world)
    for _ in range(120):
        if world.status.attempt_stage == stage:
            world.clock_is_wrong_by = HOUR
            if restarts:
                world.restart_operator()
                restarts = False
        world.tick(1.0)  # the world looks for two attempts at each beat
    assert world.status.attempt >= 2


@pytest.mark.parametrize("jump", [0.0, HOUR], ids=["that is right", "that jumps"])
def test_a_fence_takes_its_whole_time_by_a_clock(jump: float) -> None:
    world = training()
    cut_off_and_deleted(world)
    world.until(REMOVING)
    while world.status.fenced_at is None:
        world.tick(0.5)
    began = world.now
    world.clock_is_wrong_by = jump
    while 1 in world.placements:
        world.tick(0.5)
    assert FENCE + MARGIN_SECONDS <= world.now - began <= FENCE + MARGIN_SECONDS + 5.0


def test_an_operator_that_begins_anew_waits_for_the_whole_fence_again() -> None:
    world = training()
    cut_off_and_deleted(world)
    world.until(REMOVING)
    while world.status.fenced_at is None:
        world.tick(0.5)
    world.run(FENCE)
    world.restart_operator()
    began = world.now
    while 1 in world.placements:
        world.tick(0.5)
    assert world.now - began >= FENCE + MARGIN_SECONDS


def test_a_clock_that_is_put_right_by_an_hour_holds_no_start_up_for_an_hour() -> None:
    world = World(make_job({**SPEC, "recovery": {"backoff": {"maxSeconds": 60}}})).until(RUNNING).run(20.0)
    deleted_by_force(world)
    world.clock_is_wrong_by = HOUR
    world.run(30.0)
    assert world.status.next_start_at is not None
    world.clock_is_wrong_by = 0.0
    world.run(120.0)
    assert (world.status.attempt, world.status.state) == (2, "Running")


STATUS = TrainingJobStatus(attempt=1, attempt_stage="Removing")
FENCED = TrainingJobStatus(attempt=1, attempt_stage="Removing", fenced_at="2027-01-15T08:00:00Z")
STORIES: dict[str, tuple[list[tuple[TrainingJobStatus, float]], float]] = {
    "begins with the first look": ([(STATUS, 50.0)], 0.0),
    "goes on as long as nothing moves": ([(STATUS, 50.0), (STATUS, 60.0), (STATUS, 75.0)], 25.0),
    "begins anew when the fence is recorded": ([(STATUS, 50.0), (FENCED, 60.0), (FENCED, 75.0)], 15.0),
    "begins anew with another stage": (
        [(STATUS, 50.0), (TrainingJobStatus(attempt=1, attempt_stage="Placing"), 60.0)], 0.0),
    "begins anew with another attempt": (
        [(STATUS, 50.0), (TrainingJobStatus(attempt=2, attempt_stage="Removing"), 60.0)], 0.0),
}


@pytest.mark.parametrize("story", STORIES)
def test_the_time_in_a_stage(story: str) -> None:
    looks, seconds = STORIES[story]
    clock = StageClock()
    assert [clock.seconds("uid", status, now) for status, now in looks][-1] == seconds


def test_each_job_has_its_own_and_a_new_one_of_its_name_begins_anew() -> None:
    clock = StageClock()
    clock.seconds("a", STATUS, 1.0)
    assert clock.seconds("b", STATUS, 5.0) == 0.0
    clock.forget("a")
    assert clock.seconds("a", STATUS, 9.0) == 0.0
