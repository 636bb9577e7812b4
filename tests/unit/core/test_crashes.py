"""The operator is killed between any two of its calls: the end is the one that would have come without that."""

import functools

import pytest

from hedgerow_operator.core.step import ENDED, RUNNING
from tests.unit.core.builders import make_job
from tests.unit.core.faults_of_world import FAULTS, Fault, heal
from tests.unit.core.world import World

SPEC = {"workers": 2, "ranksPerWorker": 2, "recovery": {"fenceSeconds": 20}}
# It saves every 10 of them: after the fault it goes on from the second checkpoint or the third.
STEPS = 45
ONE_FAULT = {
    name: FAULTS[name] for name in ("hang", "freeze", "fail", "kill_launcher", "delete_worker", "preempt", "lose_node")
}


def life(fault: Fault, crash_in: int | None) -> World:
    """A job that suffers the fault while it trains, with an operator that dies in that many calls from then on."""
    world = World(make_job(SPEC))
    world.steps = STEPS
    world.until(RUNNING).run(12.0)
    fault(world)
    world.crash_in = crash_in
    for _ in range(400):
        world.tick(1.0)
        if world.status.attempt_stage == ENDED:
            world.run(5.0)
            return world
    raise AssertionError(f"never ended: {world.status.attempt_stage}, {world.status.conditions}")


def end(world: World) -> object:
    """What must not depend on where the operator died."""
    status = world.status
    attempts = [(entry.attempt, entry.placement, entry.counted) for entry in status.history]
    return status.state, status.restarts, status.restarts_counted, status.placement, attempts


@functools.cache
def usual(name: str) -> World:
    """The same life without a death of the operator."""
    return life(ONE_FAULT[name], None)


@pytest.mark.parametrize("name", ONE_FAULT)
def test_the_job_recovers_and_succeeds_after(name: str) -> None:
    world = usual(name)
    assert (world.status.state, world.status.restarts) == ("Succeeded", 1)


@pytest.mark.parametrize("name", ONE_FAULT)
def test_wherever_the_operator_dies_the_end_is_the_same_after(name: str) -> None:
    expected = end(usual(name))
    ends = {call: end(life(ONE_FAULT[name], call)) for call in calls_of_recovery(name)}
    assert {call: found for call, found in ends.items() if found != expected} == {}


def calls_of_recovery(name: str) -> list[int]:
    """The calls that change something, from the fault to ranks that run again."""
    world = World(make_job(SPEC))
    world.steps = STEPS
    world.until(RUNNING).run(12.0)
    ONE_FAULT[name](world)
    world.calls.clear()
    while world.status.restarts == 0 or world.status.attempt_stage != RUNNING:
        world.tick(1.0)
    return [index for index, call in enumerate(world.calls) if call != "read"]


def test_a_suspended_job_goes_on_wherever_the_operator_dies() -> None:
    for call in range(16):
        world = World(make_job(SPEC))
        world.steps = 60
        world.until(RUNNING).run(10.0)
        FAULTS["suspend"](world)
        world.crash_in = call
        world.run(25.0)
        assert (world.status.state, world.launchers) == ("Suspended", []), f"killed in call {call}"
        heal(world)
        world.until(ENDED)
        assert (world.status.state, world.status.restarts, world.status.restarts_counted) == ("Succeeded", 1, 0)
