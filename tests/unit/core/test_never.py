"""What must never happen, each with the situations that would bring it about most easily."""

from typing import Any

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.core.plan import CreatePlacement, RemovePlacement
from hedgerow_operator.core.step import ENDED, REMOVING, RUNNING, STARTING, STOPPING
from tests.unit.core.builders import make_job
from tests.unit.core.faults_of_world import FAULTS, heal
from tests.unit.core.world import World

SPEC: dict[str, Any] = {
    "workers": 2,
    "ranksPerWorker": 2,
    "recovery": {"fenceSeconds": 30, "backoff": {"initialSeconds": 0}},
}


def training(spec: dict[str, Any] | None = None, seconds: float = 20.0) -> World:
    """A job that has trained for a while."""
    return World(make_job({**SPEC, **(spec or {})})).until(RUNNING).run(seconds)


# 1. Two attempts alive (the world itself looks for it at each of its beats).


def test_no_attempt_starts_while_ranks_of_a_pod_that_was_deleted_by_force_are_heard() -> None:
    world = training()
    FAULTS["slow_down"](world)
    for launcher in world.launchers:
        launcher.slow_stop = 25.0
    FAULTS["force_delete"](world)
    world.run(25.0)
    running = next(entry for entry in world.status.conditions if entry.type == "Running")
    assert (world.status.attempt, running.reason, world.placements) == (2, reasons.BACKING_OFF, {})
    world.run(60.0)
    assert (world.status.attempt, world.status.state) == (2, "Running")


def test_no_attempt_starts_while_an_order_to_start_the_one_before_is_under_way() -> None:
    world = World(make_job(SPEC))

    def late(placement: Any) -> None:
        placement.launchers[1].answers_late = 5.0
        placement.launchers[0].exit_at, placement.launchers[0].stubborn = 1, True

    world.on_placement = late
    world.run(90.0)
    assert world.status.restarts >= 1


def test_no_placement_is_created_while_a_node_that_cannot_be_asked_may_train() -> None:
    world = training()
    FAULTS["cut_node"](world)
    world.run(300.0)
    placement = world.placements.get(1)
    assert placement is None
    assert world.status.attempt == 2


def test_a_lone_worker_on_a_silent_node_is_never_given_up_by_time() -> None:
    world = training({"workers": 1})
    world.placements[1].silence(0, really_dead=False)
    world.run(3600.0, tick=5.0)
    assert (world.status.attempt, list(world.placements)) == (1, [1])


def test_two_workers_on_one_dead_node_are_never_given_up_by_time_but_by_the_nodes_end() -> None:
    world = training()
    placement = world.placements[1]
    placement.nodes[0] = placement.nodes[1]
    for worker in (0, 1):
        placement.silence(worker, really_dead=True)
        placement.deleting.add(worker)
    world.run(900.0, tick=2.0)
    assert (world.status.attempt_stage, list(world.placements)) == (REMOVING, [1])
    placement.gone_nodes.add(placement.nodes[1])
    world.run(60.0)
    assert (world.status.attempt, world.status.state) == (2, "Running")


# 2. A healthy job restarted because we could not see.


@pytest.mark.parametrize("name", ["go_blind", "cut_reports", "cut_all", "nodes_unknown", "operator_restarts"])
def test_a_healthy_job_outlives_our_blindness(name: str) -> None:
    world = training()
    if name in ("cut_all", "nodes_unknown"):
        for launcher in world.launchers:
            launcher.heard = False
    if name in ("nodes_unknown", "operator_restarts"):
        world.placements[1].silent_nodes |= set(world.placements[1].nodes.values())
    if name == "operator_restarts":
        world.restart_operator()
        for launcher in world.launchers:
            launcher.heard = False
    if name in FAULTS:
        FAULTS[name](world)
    world.run(300.0)
    heal(world)
    world.run(60.0)
    assert (world.status.attempt, world.status.restarts, world.status.state) == (1, 0, "Running")


def test_while_blind_nothing_is_created_removed_or_restarted_and_the_status_says_so() -> None:
    for stage in (STARTING, RUNNING, STOPPING, REMOVING):
        world = training()
        stopping = None
        if stage in (STOPPING, REMOVING):
            FAULTS["hang"](world)
            for launcher in world.launchers:
                launcher.obeys = False
            world.until(stage)
            stopping = world.status.stopping
        world.job = msgspec.structs.replace(
            world.job, status=msgspec.structs.replace(world.status, attempt_stage=stage, stopping=stopping)
        )
        FAULTS["go_blind"](world)
        before = list(world.placements)
        world.calls.clear()
        world.run(60.0)
        assert not {CreatePlacement.__name__, RemovePlacement.__name__} & set(world.calls)
        assert list(world.placements) == before
        running = next(entry for entry in world.status.conditions if entry.type == "Running")
        assert (running.status, running.reason) == ("Unknown", reasons.NOT_MEASURED)


# 3. A terminal job revived.


@pytest.mark.parametrize("name", ["suspend", "delete_worker", "preempt", "lose_node", "kill_launcher", "go_blind"])
@pytest.mark.parametrize("state", ["Succeeded", "Failed"])
def test_a_job_that_has_ended_stays_ended(state: str, name: str) -> None:
    world = training({"recovery": {"maxRestarts": 0}})
    for launcher in world.launchers:
        launcher.steps = launcher.step + 5 if state == "Succeeded" else 10_000
    world.launchers[0].exit_at = None if state == "Succeeded" else world.launchers[0].step + 2
    world.until(ENDED)
    FAULTS[name](world)
    world.run(120.0)
    heal(world)
    world.placements.clear()
    world.run(120.0)
    assert (world.status.state, world.status.attempt, world.placements) == (state, 1, {})


def test_a_job_that_has_just_finished_is_not_suspended_and_run_again() -> None:
    world = training()
    for launcher in world.launchers:
        launcher.steps = launcher.step + 1
    FAULTS["suspend"](world)
    for launcher in world.launchers:
        launcher.work(world, 0.5)
    world.run(5.0)
    assert world.status.state == "Succeeded"


def test_a_job_that_finishes_before_the_order_to_stop_arrives_has_succeeded() -> None:
    world = training()
    for launcher in world.launchers:
        launcher.answers_late = 30.0
        launcher.steps = launcher.step + 4
    FAULTS["suspend"](world)
    world.run(10.0)
    assert world.status.state == "Succeeded"


def test_scripts_that_save_and_end_with_0_when_they_are_told_to_stop_have_not_finished() -> None:
    world = training()
    for launcher in world.launchers:
        launcher.stage, launcher.exit_code, launcher.stop_cause = wire.STAGE_STOPPED, 0, wire.STOP_SIGNAL
    world.run(10.0)
    assert world.status.state != "Succeeded"
    assert world.status.attempt == 2


# 4. A resume from an invalid checkpoint (the world looks at every start).


def test_torn_checkpoints_are_passed_over_at_every_start() -> None:
    world = training(seconds=40.0)
    for _ in range(3):
        world.tears = True
        world.run(15.0)
        FAULTS["hang"](world)
        world.run(20.0)
        world.tears = False
        world.run(15.0)
    assert world.status.restarts >= 3
    assert all(entry.from_step is None or entry.from_step % 10 == 0 for entry in world.status.history)


# 5. maxRestarts exceeded.


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_restarts_that_count_stay_within_the_limit_wherever_the_operator_dies(limit: int) -> None:
    for crash_in in range(0, 12, 3):
        world = training({"recovery": {"maxRestarts": limit, "backoff": {"initialSeconds": 0}}})
        for _ in range(60):
            for launcher in world.launchers[:1]:
                launcher.exit_at = launcher.exit_at or launcher.step + 12
            world.crash_in = crash_in
            world.run(3.0)
        world.run(60.0)
        assert world.status.restarts_counted <= limit
        assert world.status.reason == reasons.MAX_RESTARTS_EXCEEDED


@pytest.mark.parametrize(("limit", "reason", "restarts"), [(1, reasons.MAX_RESTARTS_EXCEEDED, 1), (9, "WorkerLost", 2)])
def test_workers_that_fail_before_they_can_start_do_not_do_so_for_ever(limit: int, reason: str, restarts: int) -> None:
    world = World(make_job({**SPEC, "recovery": {"maxRestarts": limit}}))

    def fail(placement: Any) -> None:
        placement.launchers[1].dead = True

    world.on_placement = fail
    world.until(ENDED)
    assert (world.status.reason, world.status.restarts_counted) == (reason, restarts)


def test_a_failure_that_a_suspension_overtakes_still_counts() -> None:
    world = training()
    for launcher in world.launchers:
        launcher.answers_late = 3.0
    world.launchers[0].exit_at = world.launchers[0].step + 1
    world.until(STOPPING)
    FAULTS["suspend"](world)
    world.run(40.0)
    assert (world.status.state, world.status.restarts_counted) == ("Suspended", 1)


# A fresh status is all that is needed to read these tests.


def test_a_new_job_begins_with_its_first_attempt() -> None:
    world = World(make_job(SPEC))
    assert world.status == TrainingJobStatus()
    world.run(1.0)
    assert world.status.attempt == 1
