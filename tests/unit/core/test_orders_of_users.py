"""What a user's words bring about: suspension, deadlines, time to live, limits on exclusions; and odd launchers."""

import dataclasses
from typing import Any

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import ExcludedNode
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.orders import answer_for
from hedgerow_operator.core.step import ENDED, RUNNING, STARTING, SUSPENDED
from tests.unit.core.builders import make_job
from tests.unit.core.faults_of_world import FAULTS, heal
from tests.unit.core.world import START, World
from tests.unit.core.world_parts import Placement

SPEC: dict[str, Any] = {"workers": 2, "ranksPerWorker": 2}


def training(spec: dict[str, Any] | None = None, seconds: float = 20.0) -> World:
    """A job that has trained for a while."""
    return World(make_job({**SPEC, **(spec or {})})).until(RUNNING).run(seconds)


def no_room(placement: Placement) -> None:
    """No node takes any worker of it."""
    for launcher in placement.launchers:
        placement.unschedulable.add(launcher.worker)
        launcher.heard = False


def test_a_job_that_is_active_for_too_long_fails_wherever_it_is() -> None:
    world = training({"activeDeadlineSeconds": 60}, seconds=100.0)
    assert (world.status.state, world.status.reason) == ("Failed", reasons.DEADLINE_EXCEEDED)
    assert not any(launcher.alive for launcher in world.everyone)


def test_it_fails_while_it_waits_for_workers_too() -> None:
    world = training({"activeDeadlineSeconds": 60})
    world.on_placement = no_room
    FAULTS["delete_worker"](world)
    world.run(100.0)
    assert (world.status.state, world.status.reason, world.placements) == ("Failed", reasons.DEADLINE_EXCEEDED, {})


def test_time_before_the_first_start_does_not_count() -> None:
    world = World(make_job({**SPEC, "activeDeadlineSeconds": 60}))
    world.on_placement = no_room
    world.run(200.0)
    assert world.status.state == "Starting"


def ended(spec: dict[str, Any]) -> World:
    """A job that has succeeded."""
    world = training(spec)
    for launcher in world.launchers:
        launcher.steps = launcher.step + 2
    return world.until(ENDED)


def test_an_ended_job_is_deleted_when_its_time_to_live_is_over_and_not_before() -> None:
    world = ended({"ttlSecondsAfterFinished": 100})
    world.run(95.0)
    assert world.job is not None
    world.run(10.0)
    assert world.job is None


def test_it_is_not_deleted_before_its_launchers_have_left() -> None:
    world = training({"ttlSecondsAfterFinished": 0})
    for launcher in world.launchers:
        launcher.steps, launcher.answers_late = launcher.step + 2, 6.0
    world.until(ENDED).run(4.0)
    assert world.job is not None
    world.run(10.0)
    assert (world.job, [launcher.dead for launcher in world.launchers]) == (None, [True, True])


def test_launchers_of_an_ended_job_that_do_not_leave_are_removed() -> None:
    world = training()
    for launcher in world.launchers:
        launcher.steps, launcher.obeys = launcher.step + 2, False
    world.until(ENDED).run(50.0)
    assert list(world.placements) == [1]
    world.run(20.0)
    assert world.placements == {}


def test_containers_beside_the_launchers_of_an_ended_job_do_not_hold_its_room_for_ever() -> None:
    world = ended({})
    world.placements[1].beside = True
    world.run(9.0)
    assert list(world.placements) == [1]
    world.run(20.0)
    assert (world.placements, world.status.state) == ({}, "Succeeded")


def test_the_placement_of_an_ended_job_with_nothing_beside_stays_for_people_to_look_at() -> None:
    world = ended({}).run(200.0)
    assert list(world.placements) == [1]


def test_a_suspended_job_gives_its_ranks_the_grace_of_their_pods_when_that_is_longer() -> None:
    spec = {"terminationGracePeriodSeconds": 90, "containers": [{"name": "trainer", "command": ["train"]}]}
    world = World(make_job({**SPEC, "local": None, "kubernetes": {"template": {"spec": spec}}})).until(RUNNING)
    FAULTS["suspend"](world)
    world.run(1.0)
    assert {entry.grace_seconds for entry in world.decide().orders.commands[0]} == {90.0}


def test_suspending_before_the_first_start_and_going_on_is_still_the_first_attempt() -> None:
    world = World(make_job(SPEC)).run(0.5)
    FAULTS["suspend"](world)
    world.until(SUSPENDED)
    assert (world.status.attempt, world.status.restarts) == (0, 0)
    heal(world)
    world.until(RUNNING)
    assert (world.status.attempt, world.status.restarts, world.status.placement) == (1, 0, 1)


def test_a_job_that_is_created_suspended_places_nothing() -> None:
    world = World(make_job({**SPEC, "suspend": True})).run(30.0)
    assert (world.status.state, world.placements) == ("Suspended", {})


def excluded(*names: str, reason: str = reasons.NODE_LOST, seconds: float = 86400.0) -> tuple[ExcludedNode, ...]:
    until = format_time(START + seconds)
    return tuple(ExcludedNode(name=name, reason=reason, until=until) for name in names)


def short_of_room(nodes: tuple[ExcludedNode, ...]) -> World:
    """A job that finds room only once no node is excluded."""
    world = World(make_job({**SPEC, "recovery": {"exclude": {"maxWaitSeconds": 60}}}))

    def refuse(placement: Placement) -> None:
        if "node1" not in placement.nodes.values():
            no_room(placement)

    world.on_placement = refuse
    world.job = msgspec.structs.replace(world.job, status=msgspec.structs.replace(world.status, excluded_nodes=nodes))
    return world


def test_an_exclusion_that_leaves_no_room_is_given_back_and_said() -> None:
    world = short_of_room(excluded("node1")).run(100.0)
    assert (world.status.state, world.status.excluded_nodes) == ("Running", ())
    assert reasons.EXCLUSION_TOO_TIGHT in [event.reason for event in world.events]
    assert world.status.restarts_counted == 0


def test_the_weakest_of_several_is_given_back_first() -> None:
    nodes = excluded("node2") + excluded("node1", reason=reasons.NO_PROGRESS)
    world = short_of_room(nodes).run(100.0)
    assert (world.status.state, [entry.name for entry in world.status.excluded_nodes]) == ("Running", ["node2"])


def test_an_exclusion_of_another_kind_is_never_given_back() -> None:
    world = short_of_room(excluded("node1", reason="FatalXid")).run(300.0)
    assert (world.status.state, len(world.status.excluded_nodes)) == ("Starting", 1)


def test_an_exclusion_that_has_expired_excludes_nothing() -> None:
    world = short_of_room(excluded("node1", seconds=-5.0)).run(30.0)
    assert world.status.state == "Running"


def test_in_mode_observe_nothing_is_restarted_whatever_happens() -> None:
    for name in ("hang", "freeze", "fail", "lose_node", "preempt", "kill_launcher"):
        world = training({"recovery": {"mode": "Observe"}})
        FAULTS[name](world)
        world.run(200.0)
        assert (world.status.attempt, world.status.attempt_stage, list(world.placements)) == (1, RUNNING, [1]), name
        assert world.status.incident is not None
        assert world.status.incident.action.startswith("would"), name
        assert [event.warning for event in world.events].count(True) == 1, name


# Launchers that say odd things.


def test_a_launcher_that_is_started_anew_in_the_middle_of_the_start_begins_with_the_port_of_the_others() -> None:
    world = World(make_job(SPEC))
    world.on_placement = lambda placement: setattr(placement.launchers[0], "answers_late", 60.0)
    world.until(STARTING).run(2.0)
    assert world.placements[1].launchers[1].attempt == 1
    first = world.placements[1].launchers[0]
    report = dataclasses.replace(first.report(world), launcher="another", free_port=33333, nonce="another")
    world.hear(report)
    start = answer_for(world.decide().orders, report).commands[0]
    assert (start.kind, start.master_port) == (wire.COMMAND_START, 20000)


def test_a_launcher_that_has_forgotten_its_attempt_is_restarted_with_the_others_in_place() -> None:
    world = training()
    launcher = world.launchers[1]
    launcher.attempt, launcher.stage, launcher.name, launcher.step = 0, wire.STAGE_WAITING, "another", 0
    world.run(60.0)
    assert (world.status.attempt, world.status.placement, world.status.state) == (2, 1, "Running")


@pytest.mark.parametrize("amount", [1, 3])
def test_a_launcher_that_reports_another_number_of_ranks_never_counts_as_finished(amount: int) -> None:
    world = training()
    last = world.launchers[1]
    for launcher in world.launchers:
        launcher.steps = launcher.step + 2
    honest = last.report

    def odd(of: World) -> wire.Report:
        report = honest(of)
        return dataclasses.replace(report, ranks=(report.ranks * 2)[:amount])

    last.report = odd  # type: ignore[method-assign]
    world.run(60.0)
    assert world.status.state != "Succeeded"


def test_a_gang_whose_checkpoints_cannot_be_read_waits_and_starts_nothing_from_the_beginning() -> None:
    world = World(make_job(SPEC))
    scan = wire.CheckpointScan(error="stale file handle", quiet=True)

    def unreadable(placement: Placement) -> None:
        launcher = placement.launchers[0]
        honest = launcher.report
        launcher.report = lambda of: dataclasses.replace(honest(of), checkpoints=scan)  # type: ignore[method-assign]

    world.on_placement = unreadable
    world.run(300.0)
    assert (world.status.attempt_stage, world.status.start_time) == ("Gathering", None)
