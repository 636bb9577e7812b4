"""Before a stalled attempt is killed, flight recorders that listen get a moment to tell where their ranks are."""

from typing import Any

import pytest

from hedgerow.wire import COMMAND_DUMP
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.core.decide import decide
from hedgerow_operator.core.plan import Plan
from hedgerow_operator.core.seen import Heard, PlacementSeen, Seen
from hedgerow_operator.core.step import RUNNING, STOPPING
from tests.unit.core.builders import frozen, make_job, make_report, make_worker, stack
from tests.unit.core.test_collectives import recorder

NOW = 1_800_000_000.0
STATUS = TrainingJobStatus(
    attempt=1, placement=1, attempt_stage=RUNNING, start_time="2027-01-15T07:00:00Z",
    attempt_started_at="2027-01-15T07:00:00Z",
)


def decided(
    age: float, dump_age: float | None, told: bool, status: TrainingJobStatus = STATUS, **fields: Any
) -> Plan:
    """Rank 2 has stood at step 36 for ``age`` seconds, the others wait for it."""
    ranks = []
    for rank in range(4):
        listening: dict[str, Any] = {"records": True}
        if told:
            listening.update(collectives=recorder(8 if rank == 2 else 9), collectives_age=dump_age)
        step = 36 if rank == 2 else 37
        ranks.append(frozen(rank, age=age, step=step, stack=stack("wait", 5), **{**listening, **fields}))
    report = make_report(*ranks, dump_age=dump_age, durations={"step": {40: 4000}})
    placements = (PlacementSeen(attempt=1, workers=(make_worker(),)),)
    seen = Seen(placements=placements, heard=(Heard(report=report, age=0.0),), listening_seconds=1000.0)
    return decide(make_job(status=status), seen, NOW)


CASES: dict[str, tuple[float, float | None, bool, dict[str, Any], str]] = {
    "one that was not asked yet": (11.0, None, False, {}, RUNNING),
    "one that was just asked": (12.0, 1.0, False, {}, RUNNING),
    "one that told what was before the standstill": (12.0, 1.0, True, {"collectives_age": 300.0}, RUNNING),
    "one that has told": (12.0, 1.0, True, {}, STOPPING),
    "one that was asked long ago": (14.0, 3.5, False, {}, STOPPING),
    "one that could have been asked long ago": (40.0, None, False, {}, STOPPING),
    "one that does not listen": (11.0, None, False, {"records": False}, STOPPING),
}


@pytest.mark.parametrize("case", CASES)
def test_the_attempt_with(case: str) -> None:
    age, dump_age, told, fields, stage = CASES[case]
    assert decided(age, dump_age, told, **fields).status.attempt_stage == stage


def test_while_it_is_waited_for_they_are_asked() -> None:
    plan = decided(11.0, None, False)
    assert plan.status.incident is not None
    assert [command.kind for command in plan.orders.commands[0]] == []
    again = decided(11.5, None, False, plan.status)
    assert [command.kind for command in again.orders.commands[0]] == [COMMAND_DUMP]
