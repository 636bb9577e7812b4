"""When workers on nodes that cannot be asked may be deleted by force, and when an older attempt may still live."""

import dataclasses
from typing import Any

import msgspec
import pytest

from hedgerow import wire
from hedgerow.fence import FENCE as FENCE_NOW
from hedgerow.fence import Knowledge
from hedgerow.fence import decide as fence_decide
from hedgerow_operator.core.fencing import MARGIN_SECONDS, clock_may_start, forceable
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.plan import BUSY_INTERVAL_SECONDS, CALM_INTERVAL_SECONDS
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_SUCCEEDED
from hedgerow_operator.core.step import RUNNING
from tests.unit.core.builders import make_gang, make_job, make_rank, make_worker
from tests.unit.core.world import World

FENCE = 120.0
OVER = FENCE + MARGIN_SECONDS


def gang_of(*others: dict[str, Any], stage: str = wire.STAGE_STOPPED, silent: tuple[int, ...] = (2,)) -> Gang:
    """Three workers; the last one, terminating on a silent node, is not heard. Others as described."""
    last = make_worker(2, node_silent=True, terminating=True)
    workers = (*(make_worker(index, **fields) for index, fields in enumerate(others)), last)
    heard = [rank for rank in range(3) if rank not in silent]
    gang = make_gang(*(make_rank(rank) for rank in heard), workers=workers, silent=silent)
    launchers = {
        index: msgspec.structs.replace(entry, report=dataclasses.replace(entry.report, stage=stage))
        for index, entry in gang.launchers.items()
    }
    return msgspec.structs.replace(gang, launchers=launchers)


CLOCK: dict[str, tuple[Gang, bool]] = {
    "another has reported that it stopped": (gang_of({}, {}), True),
    "one that is stopping vouches no more": (gang_of({}, {}, stage=wire.STAGE_STOPPING), True),
    "not while all others still run": (gang_of({}, {}, stage=wire.STAGE_RUNNING), False),
    "not while the others are not heard": (gang_of({}, {}, silent=(0, 1, 2)), False),
    "another has ended": (gang_of({"phase": WORKER_FAILED}, {}, silent=(0, 1, 2)), True),
    "another has ended well": (gang_of({"phase": WORKER_SUCCEEDED}, {}, silent=(0, 1, 2)), True),
    "another is gone": (gang_of({}, silent=(0, 1, 2)), True),
    "not when all are on nodes that cannot be asked": (
        gang_of({"node_silent": True}, {"node_silent": True}, silent=(0, 1, 2)), False),
}


@pytest.mark.parametrize("case", CLOCK)
def test_the_clock_starts_when(case: str) -> None:
    gang, starts = CLOCK[case]
    assert clock_may_start(gang) is starts


def test_a_lone_worker_is_never_waited_out() -> None:
    lone = make_gang(workers=(make_worker(0, node_silent=True, terminating=True),), silent=(0,))
    assert not clock_may_start(lone)


FORCED: dict[str, tuple[dict[str, Any], float | None, bool]] = {
    "not before the fence time and the margin are over": ({}, OVER - 1, False),
    "once they are": ({}, OVER, True),
    "not while the clock has not started": ({}, None, False),
    "at once when its node is gone": ({"node_gone": True}, None, True),
    "not one that nobody asked to go": ({"terminating": False}, OVER, False),
    "not one whose node answers": ({"node_silent": False}, OVER, False),
}


@pytest.mark.parametrize("case", FORCED)
def test_a_worker_is_deleted_by_force(case: str) -> None:
    fields, fenced_for, forced = FORCED[case]
    worker = make_worker(0, **{"node_silent": True, "terminating": True, **fields})
    gang = make_gang(workers=(worker, make_worker(1)), silent=(0, 1))
    assert forceable(gang, FENCE, fenced_for) == ((worker.name,) if forced else ())


# fenceSeconds, whether all is calm, and how often a launcher is answered then.
INTERVALS: dict[str, tuple[int, bool, float]] = {
    "in calm every few seconds": (120, True, CALM_INTERVAL_SECONDS),
    "in calm with a fence of 20 s just as often": (20, True, CALM_INTERVAL_SECONDS),
    "in calm with a shorter fence more often": (12, True, 3.0),
    "while the gang gathers every second": (120, False, BUSY_INTERVAL_SECONDS),
    "with the shortest fence in calm": (10, True, 2.5),
    "with the shortest fence while the gang gathers": (10, False, BUSY_INTERVAL_SECONDS),
}


@pytest.mark.parametrize("case", INTERVALS)
def test_launchers_are_answered(case: str) -> None:
    fence, calm, wanted = INTERVALS[case]
    world = World(make_job({"workers": 2, "ranksPerWorker": 2, "recovery": {"fenceSeconds": fence}}))
    if calm:
        world.until(RUNNING).run(10.0)
    else:
        world.tick(0.5)
    assert world.orders is not None
    assert (world.status.attempt_stage == RUNNING) is calm
    assert world.orders.interval_seconds == wanted


@pytest.mark.parametrize("fence", [10, 12, 20, 120, 3600])
def test_a_launcher_whose_answers_are_held_in_turn_stays_far_from_its_fence(fence: int) -> None:
    world = World(make_job({"workers": 2, "recovery": {"fenceSeconds": fence}})).until(RUNNING).run(10.0)
    assert world.orders is not None
    # One request was held for an interval, and the next one is: so old is the newest answer before it comes.
    held_twice = 2.0 * world.orders.interval_seconds
    assert fence_decide(Knowledge(1, 2, float(fence), current_sent=-held_twice), 0.0) != FENCE_NOW
    assert held_twice <= fence / 2
