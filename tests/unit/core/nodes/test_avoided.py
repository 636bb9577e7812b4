"""A job that finds no room says which nodes it may not use, and why."""

from __future__ import annotations

from hedgerow_operator.api.conditions import find_condition
from hedgerow_operator.api.status import ExcludedNode
from hedgerow_operator.core.nodes.avoided import words
from hedgerow_operator.core.step import GATHERING, PLACING
from tests.unit.core.builders import make_job
from tests.unit.core.world import World
from tests.unit.core.world_parts import Placement

UNTIL = "2026-01-02T03:04:05Z"
OWN = ExcludedNode(name="node-2", reason="NoProgress", until=UNTIL)
CASES = {
    "nothing is said where no node is avoided": ((), ""),
    "one is named with what everybody avoids it for": (("node-1",), "the job may not use node-1 (Xid79)"),
    "the job's own exclusions with their end": (("node-2",), f"the job may not use node-2 (NoProgress, until {UNTIL})"),
    "several are listed": (
        ("node-2", "node-1"), f"the job may not use node-2 (NoProgress, until {UNTIL}) and node-1 (Xid79)",
    ),
    "one that may be used again has no reason": (
        ("node-1", "node-9"), "the job may not use node-1 (Xid79) and node-9",
    ),
    "of many the first are named": (
        tuple(f"n{number}" for number in range(9)), "the job may not use n0, n1, n2, n3 and 5 more nodes",
    ),
}  # fmt: skip


def test_of_words() -> None:
    for case, (avoided, want) in CASES.items():
        assert words(avoided, [OWN], {"node-1": "Xid79"}) == want, case


def waiting(unschedulable: bool) -> str:
    """What the condition Running says of a job whose first placement had to avoid a quarantined node."""
    world = World(make_job())

    def refuse(placement: Placement) -> None:
        for launcher in placement.launchers:
            launcher.heard = False
            if unschedulable:
                placement.unschedulable.add(launcher.worker)

    world.on_placement = refuse
    world.quarantined = {"node-0": "Xid79"}
    world.run(5.0)
    assert world.status.attempt_stage in (PLACING, GATHERING)
    running = find_condition(world.status.conditions, "Running")
    assert running is not None
    return running.message


def test_the_condition_of_a_job_without_room_says_it_after_the_schedulers_own_sentence() -> None:
    message = waiting(unschedulable=True)
    assert "no node has room" in message
    assert message.endswith("; the job may not use node-0 (Xid79)")


def test_a_job_that_waits_for_something_else_does_not() -> None:
    assert "may not use" not in waiting(unschedulable=False)
