"""The engine is killed, or loses an answer, at any of its calls: never two attempts, and the same end."""

from collections.abc import Iterator

import pytest

from hedgerow_operator.core.step import ENDED, RUNNING
from tests.unit.core.builders import make_job
from tests.unit.core.faults_of_world import FAULTS, heal
from tests.unit.reconcile.engine_world import EngineWorld

SPEC = {"workers": 2, "ranksPerWorker": 2, "recovery": {"fenceSeconds": 20}}
# Each has one recovery, whose end is known.
NAMES = ("hang", "freeze", "fail", "delete_worker", "preempt", "kill_launcher", "lose_node", "cut_node")
# After so many calls of its next life the operator dies once more.
CALLS_OF_NEXT_LIFE = {"hang": (1, 2, 3, 5), "delete_worker": (1, 4), "lose_node": (2,)}


@pytest.fixture
def worlds() -> Iterator[list[EngineWorld]]:
    """Worlds whose loops are closed at the end."""
    made: list[EngineWorld] = []
    yield made
    for world in made:
        world.close()


def trained(worlds: list[EngineWorld]) -> EngineWorld:
    """A job that has trained for a while."""
    world = EngineWorld(make_job(SPEC))
    worlds.append(world)
    world.steps = 40
    world.until(RUNNING).run(10.0)
    world.calls.clear()
    return world


def ended(world: EngineWorld) -> EngineWorld:
    """The same at its end."""
    for _ in range(300):
        if world.status.attempt_stage == ENDED:
            return world
        world.tick(1.0)
    raise AssertionError(f"never ended: {world.status.attempt_stage}, {world.status.conditions}")


def end(world: EngineWorld) -> tuple[object, ...]:
    """What must not depend on what happened to the operator."""
    status = world.status
    return status.state, status.restarts, status.restarts_counted, status.placement, len(status.history)


def changes(name: str, worlds: list[EngineWorld]) -> list[int]:
    """The calls of a recovery that change something."""
    world = trained(worlds)
    FAULTS[name](world)
    while world.status.restarts == 0 or world.status.attempt_stage != RUNNING:
        world.tick(1.0)
    return [index for index, call in enumerate(world.calls) if call != "read"]


@pytest.mark.parametrize("name", NAMES)
def test_killed_at_any_call_the_engine_reaches_the_same_end_after(name: str, worlds: list[EngineWorld]) -> None:
    usual = trained(worlds)
    FAULTS[name](usual)
    expected = end(ended(usual))
    assert expected[:2] == ("Succeeded", 1)
    for call in changes(name, worlds):
        world = trained(worlds)
        FAULTS[name](world)
        world.crash_in = call
        assert end(ended(world)) == expected, f"killed at call {call}"


@pytest.mark.parametrize("name", CALLS_OF_NEXT_LIFE)
def test_killed_at_any_two_calls_the_engine_reaches_the_same_end_after(name: str, worlds: list[EngineWorld]) -> None:
    usual = trained(worlds)
    FAULTS[name](usual)
    expected = end(ended(usual))
    for call in changes(name, worlds):
        for again in CALLS_OF_NEXT_LIFE[name]:
            world = trained(worlds)
            FAULTS[name](world)
            world.crash_in, world.crashes_again = call, [again]
            assert end(ended(world)) == expected, f"killed at call {call}, and {again} calls later"


@pytest.mark.parametrize("name", ["hang", "delete_worker"])
def test_an_operator_that_lives_for_few_calls_at_a_time_reaches_the_same_end_after(
    name: str, worlds: list[EngineWorld]
) -> None:
    usual = trained(worlds)
    FAULTS[name](usual)
    expected = end(ended(usual))
    for life in (4, 5, 7):
        world = trained(worlds)
        FAULTS[name](world)
        world.crash_in, world.crashes_again = life, [life] * 40
        assert end(ended(world)) == expected, f"lives of {life} calls"


def test_whatever_answer_is_lost_the_engine_reaches_the_same_end(worlds: list[EngineWorld]) -> None:
    for call in range(20):
        world = trained(worlds)
        FAULTS["delete_worker"](world)
        world.cut_in = call
        assert end(ended(world))[:2] == ("Succeeded", 1), f"answer {call} was lost"


def test_a_new_job_starts_once_wherever_the_engine_dies(worlds: list[EngineWorld]) -> None:
    for call in range(15):
        world = EngineWorld(make_job(SPEC))
        worlds.append(world)
        world.crash_in = call
        world.until(RUNNING)
        assert (world.status.attempt, list(world.placements)) == (1, [1]), f"killed at call {call}"


def test_a_suspended_job_goes_on_wherever_the_engine_dies(worlds: list[EngineWorld]) -> None:
    for call in range(0, 24, 2):
        world = trained(worlds)
        FAULTS["suspend"](world)
        world.crash_in = call
        world.run(25.0)
        heal(world)
        assert end(ended(world))[:3] == ("Succeeded", 1, 0), f"killed at call {call}"
