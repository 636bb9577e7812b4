"""Who is missing in a collective, in a whole gang that stands still."""

from typing import Any

import pytest

from hedgerow.wire import RankReport
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.verdict import Kind, judge
from tests.unit.core.builders import frozen, make_gang

DEADLINES = {"step": 10.0}


def recorder(seq: int, ranks: int = 4, state: str = "started") -> dict[str, Any]:
    """What a launcher sends of a rank whose last collective is this one."""
    entry = {"record_id": seq, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": seq,
             "profiling_name": "nccl:all_reduce", "state": state, "is_p2p": False, "input_sizes": [[8]],
             "output_sizes": [[8]]}
    return {"entries": [entry], "count": 1, "pg_config": {"0": {"name": "0", "desc": "default_pg",
                                                                "rank_runs": [[0, ranks, 1]]}}}


def standing(*sequences: int | None, **fields: Any) -> list[RankReport]:
    """Ranks at one step, the collective that each reached last; that of the furthest is not complete."""
    furthest = max(seq or 0 for seq in sequences)
    return [
        frozen(rank, collectives=None if seq is None else recorder(
            seq, len(sequences), "started" if seq == furthest else "completed"), **fields)
        for rank, seq in enumerate(sequences)
    ]


NAMED: dict[str, tuple[list[RankReport], tuple[int, ...], bool]] = {
    "the rank that never joined": (standing(9, 9, 8, 9), (2,), True),
    "two that never joined": (standing(9, 8, 8, 9), (1, 2), True),
    "nobody, when everyone has joined": (standing(9, 9, 9, 9), (), False),
    "the rank that never joined, by dumps of the standstill": (standing(9, 9, 8, 9, collectives_age=2.0), (2,), True),
    "nobody, by dumps that are older than the standstill": (standing(9, 9, 8, 9, collectives_age=300.0), (), False),
    "nobody, where only one rank has a recorder": (standing(9, None, None, None), (), False),
}


@pytest.mark.parametrize("case", NAMED)
def test_named(case: str) -> None:
    reports, ranks, decisive = NAMED[case]
    verdict = judge(make_gang(*reports), DEADLINES)
    assert (verdict.kind, verdict.ranks, verdict.decisive) == (Kind.STALLED, ranks, decisive)


def test_a_missing_rank_that_uses_its_cpu_is_named_but_nothing_is_done_at_once() -> None:
    reports = standing(9, 9, 8, 9)
    busy = frozen(2, collectives=reports[2].collectives, idle_seconds=0.0)
    verdict = judge(make_gang(*reports[:2], busy, reports[3]), DEADLINES)
    assert (verdict.kind, verdict.ranks, verdict.decisive) == (Kind.STALLED, (2,), False)


def test_everyone_joined_points_at_the_network() -> None:
    assert judge(make_gang(*standing(9, 9, 9, 9)), DEADLINES).fault_class is FaultClass.NETWORK


def test_a_dump_that_is_older_than_the_standstill_accuses_nobody_whose_steps_go_further() -> None:
    reports = standing(9, 9, 8, 9)
    behind = frozen(1, step=36, collectives=reports[1].collectives)
    assert judge(make_gang(reports[0], behind, *reports[2:]), DEADLINES).ranks == (1,)
