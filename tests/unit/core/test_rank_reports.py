"""What ranks say is brought to one count of steps, and to the one rank that speaks for all."""

from typing import Any

import pytest

from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.core.gang import Gang, gather
from hedgerow_operator.core.seen import Heard, PlacementSeen, Seen
from hedgerow_operator.core.verdict import Kind, judge
from tests.unit.core.builders import frozen, make_job, make_rank, make_report, make_worker, stack

DEADLINES = {"init": 60.0, "step": 10.0}
MUTE = {"source": None, "beats": 0, "step": None, "phase": "init"}


def gang_of(*ranks: Any, resumed: int | None = None) -> Gang:
    status = TrainingJobStatus(attempt=1, placement=1, attempt_stage="Running", resume_step=resumed)
    seen = Seen(placements=(PlacementSeen(attempt=1, workers=(make_worker(),)),),
                heard=(Heard(report=make_report(*ranks), age=0.5),), listening_seconds=600.0)
    return gather(make_job(status=status), seen)


STEPS = {
    "torch's hook counts within the attempt": ("Torch", 440, 443),
    "torch's hook in a first attempt": ("Torch", None, 3),
    "a script names its own steps": ("Library", 400, 3),
    "a log prints the job's own steps": ("Log", 400, 3),
}


@pytest.mark.parametrize("case", STEPS)
def test_the_step_of_the_job_where(case: str) -> None:
    source, resumed, want = STEPS[case]
    gang = gang_of(make_rank(0, source=source, step=3), resumed=resumed)
    assert gang.ranks[0].report.step == want


def test_ranks_that_print_nothing_are_not_overdue_while_rank_0_prints_for_all() -> None:
    gang = gang_of(make_rank(0, source="Log"), *(make_rank(rank, progress_age=900.0, **MUTE) for rank in (1, 2, 3)))
    assert judge(gang, DEADLINES).kind is Kind.HEALTHY
    assert {rank.report.step for rank in gang.ranks} == {37}


def test_a_rank_that_never_beats_is_still_seen_beside_ranks_that_do() -> None:
    gang = gang_of(make_rank(0), make_rank(1, progress_age=900.0, **MUTE))
    assert gang.ranks[1].report.step is None


def test_when_rank_0_falls_silent_the_others_evidence_is_their_own() -> None:
    working = make_rank(1, progress_age=900.0, idle_seconds=0.0, io_idle_seconds=0.0, **MUTE)
    still = frozen(2, **{**MUTE, "progress_age": 900.0})
    assert judge(gang_of(frozen(0, source="Log"), working), DEADLINES).kind is Kind.SUSPECT
    assert judge(gang_of(frozen(0, source="Log"), still), DEADLINES).kind is Kind.STALLED


def test_a_rank_that_prints_nothing_is_named_by_its_stack() -> None:
    waits, hangs = stack("all_reduce", 20, "/lib/torch/c10d.py"), stack("next_batch", 88)
    mute = [frozen(rank, stack=waits if rank != 2 else hangs, **{**MUTE, "progress_age": 900.0}) for rank in (1, 2, 3)]
    verdict = judge(gang_of(frozen(0, source="Log", stack=waits), *mute), DEADLINES)
    assert (verdict.kind, verdict.ranks) == (Kind.STALLED, (2,))


BURSTY = {"source": "Log", "bursty": True}


def test_silence_between_bursts_is_never_enough_where_nothing_else_is_seen() -> None:
    verdict = judge(gang_of(make_rank(0, progress_age=9000.0, **BURSTY)), DEADLINES)
    assert verdict.kind is Kind.SUSPECT
    assert "comes in bursts" in verdict.message


def test_silence_between_bursts_and_no_work_are_two_evidences() -> None:
    assert judge(gang_of(frozen(0, age=60.0, **BURSTY)), DEADLINES).kind is Kind.STALLED


def test_lines_held_back_name_nobody() -> None:
    verdict = judge(gang_of(frozen(0, step=37, **BURSTY), frozen(1, step=30, **BURSTY)), DEADLINES)
    assert (verdict.kind, verdict.ranks) == (Kind.STALLED, ())
