"""A job that is given up is never first said to be restarted; and an exclusion that is over is not listed any more."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import ExcludedNode
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.step import ENDED, RUNNING
from tests.unit.core.builders import make_job
from tests.unit.core.faults_of_world import FAULTS
from tests.unit.core.world import World

SPEC: dict[str, Any] = {"workers": 2, "ranksPerWorker": 2}


def cannot_run(world: World) -> None:
    """Both workers' ranks end with the same exception."""
    for launcher in world.launchers:
        launcher.tail = ["ValueError: no such model"]
        launcher.exit_at = launcher.step + 1


GIVEN_UP: dict[str, tuple[dict[str, Any], Callable[[World], None], str]] = {
    "a stall when no restart is left": (
        {"recovery": {"maxRestarts": 0}}, FAULTS["hang"], reasons.MAX_RESTARTS_EXCEEDED),
    "an exit when no restart is left": (
        {"recovery": {"maxRestarts": 0}}, FAULTS["fail"], reasons.MAX_RESTARTS_EXCEEDED),
    "a dead node when no restart is left": (
        {"recovery": {"maxRestarts": 0, "fenceSeconds": 30}}, FAULTS["lose_node"], reasons.MAX_RESTARTS_EXCEEDED),
    "a stall that may have brought no newer checkpoint": (
        {"recovery": {"noProgressLimit": 1}}, FAULTS["hang"], reasons.NO_CHECKPOINT_PROGRESS),
    "an exit that may have brought no newer checkpoint": (
        {"recovery": {"noProgressLimit": 1}}, FAULTS["fail"], reasons.NO_CHECKPOINT_PROGRESS),
    "the same exception everywhere": ({}, cannot_run, reasons.APPLICATION_FAULT),
    "the end of its time": ({"activeDeadlineSeconds": 25}, FAULTS["slow_down"], reasons.DEADLINE_EXCEEDED),
}


def promises(world: World) -> list[str]:
    """What is said now that only a job says which will go on."""
    status = world.status
    said = [text for entry in status.conditions for text in (entry.reason, entry.message)]
    said += [event.message for event in world.events] + [event.reason for event in world.events]
    said += [status.incident.action if status.incident else "", status.state]
    wrong = [text for text in said if text in (reasons.RESTARTING, "Recovering")]
    return wrong + [text for text in said if "attempt 2 starts" in text and "else the job is given up" not in text]


@pytest.mark.parametrize("case", GIVEN_UP)
def test_no_restart_is_announced_before(case: str) -> None:
    spec, fault, reason = GIVEN_UP[case]
    world = World(make_job({**SPEC, **spec})).until(RUNNING).run(8.0)
    world.checkpoints.clear()
    world.tears = True
    fault(world)
    for _ in range(300):
        world.tick(1.0)
        if world.status.attempt == 1:
            assert promises(world) == []
        if world.status.attempt_stage == ENDED:
            break
    assert (world.status.state, world.status.reason) == ("Failed", reason)


def test_a_newer_checkpoint_that_was_left_lets_the_job_go_on_after_all() -> None:
    world = World(make_job({**SPEC, "recovery": {"noProgressLimit": 1}})).until(RUNNING).run(20.0)
    FAULTS["hang"](world)
    world.run(40.0)
    assert (world.status.state, world.status.attempt) == ("Running", 2)


def test_an_exclusion_that_is_over_is_not_listed_any_more() -> None:
    world = World(make_job(SPEC)).until(RUNNING).run(5.0)
    over, lasting = (
        ExcludedNode(name=name, reason=reasons.NODE_LOST, until=format_time(world.now + seconds))
        for name, seconds in (("node7", 10.0), ("node8", 60.0))
    )
    assert world.job is not None
    status = msgspec.structs.replace(world.status, excluded_nodes=(over, lasting))
    world.job = msgspec.structs.replace(world.job, status=status)
    assert world.run(5.0).status.excluded_nodes == (over, lasting)
    assert world.run(10.0).status.excluded_nodes == (lasting,)
    assert world.run(60.0).status.excluded_nodes == ()
