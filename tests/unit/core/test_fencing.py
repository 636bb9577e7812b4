"""When workers on nodes that cannot be asked may be deleted by force, and when an older attempt may still live."""

import dataclasses
from typing import Any

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.core.fencing import MARGIN_SECONDS, clock_may_start, forceable
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_SUCCEEDED
from tests.unit.core.builders import make_gang, make_rank, make_worker

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
