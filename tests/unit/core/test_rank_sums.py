"""A gang is judged by sums: they say the same as its ranks, one by one."""

from typing import Any

import pytest

from hedgerow_operator.core.rank_reports import with_progress_of
from hedgerow_operator.core.rank_sums import RankSums, spoken_for, sums_of, together
from hedgerow_operator.core.stacks import Frame
from hedgerow_operator.core.watching.duration_sums import DurationSums
from tests.unit.core.builders import exited, frozen, make_rank, stack

GROUPS: dict[str, list[Any]] = {
    "ranks that go on": [make_rank(0, step=36), make_rank(1, step=37)],
    "one that stands still": [make_rank(0), frozen(1, age=90.0)],
    "phases apart": [make_rank(0, progress_age=3.0), make_rank(1, phase="eval", progress_age=40.0)],
    "one that failed": [make_rank(0), exited(1)],
    "one that ended well": [make_rank(0), exited(1, 0)],
    "one that has not begun": [make_rank(0), make_rank(1, beats=0, step=None, phase="init", source=None)],
    "torch's own count": [make_rank(0, source="Torch", step=3), make_rank(1, step=403)],
    "a log": [make_rank(0, source="Log")],
    "one that does not tell its age": [make_rank(0, progress_age=9.0), make_rank(1, progress_age=None)],
    "one whose stack is known": [make_rank(0), make_rank(1, stack=stack("next_batch", 88))],
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_taken_together_say_what_their_ranks_say(name: str) -> None:
    ranks = GROUPS[name] + GROUPS["ranks that go on"]
    assert together([sums_of([rank]) for rank in ranks]) == sums_of(ranks)


SAID: dict[str, tuple[str, dict[str, Any]]] = {
    "who has not progressed longest, by phase": (
        "phases apart",
        {"oldest": {"step": 3.0, "eval": 40.0}, "live": 2, "beating": True},
    ),
    "who has progressed last, by phase": ("phases apart", {"newest": {"step": 3.0, "eval": 40.0}}),
    "that one cannot tell when it progressed": ("one that does not tell its age", {"newest": {"step": 0.0}}),
    "where they stand": ("one whose stack is known", {"places": {1: Frame("/app/train.py", 88, "next_batch")}}),
    "that one failed": ("one that failed", {"failed": True, "ended_well": False, "live": 1, "beating": False}),
    "that one ended well": ("one that ended well", {"failed": False, "ended_well": True}),
    "that one has not begun": ("one that has not begun", {"beating": False, "stepless": True}),
    "the step that all have reached": ("ranks that go on", {"least_step": 36, "pace": 0.1}),
}


@pytest.mark.parametrize("case", SAID)
def test_they_say(case: str) -> None:
    name, want = SAID[case]
    found = sums_of(GROUPS[name])
    assert {field: getattr(found, field) for field in want} == want


STEPS = {"torch's own count": (440, 403), "ranks that go on": (440, 36), "one that has not begun": (440, None)}


@pytest.mark.parametrize("name", STEPS)
def test_the_step_of_the_job_with(name: str) -> None:
    resumed, want = STEPS[name]
    assert sums_of(GROUPS[name]).step(resumed) == want


MUTE = {"beats": 0, "step": None, "phase": "init", "source": None}
SPOKEN: dict[str, list[Any]] = {
    "which go on": [make_rank(0, source="Log", step=9), make_rank(1, progress_age=700.0, **MUTE), make_rank(2, **MUTE)],
    "of which one has ended": [make_rank(0, source="Log", step=9), exited(1, **MUTE), make_rank(2, **MUTE)],
    "beside one that tells its own": [
        make_rank(0, source="Log", progress_age=70.0),
        make_rank(1, **MUTE),
        make_rank(2),
    ],
    "in bursts": [make_rank(0, source="Log", bursty=True), make_rank(1, **MUTE)],
}


@pytest.mark.parametrize("case", SPOKEN)
def test_the_sums_of_ranks_of_which_one_prints_for_all(case: str) -> None:
    ranks = SPOKEN[case]
    assert spoken_for(sums_of(ranks), ranks[0]) == sums_of(with_progress_of(rank, ranks[0]) for rank in ranks)


def test_no_ranks_say_nothing() -> None:
    assert together([]) == sums_of([]) == RankSums()


def test_durations_are_counted_once_however_often_they_are_reported() -> None:
    sums = DurationSums()
    sums.add(0, {"step": {36: 10}, "init": {50: 1}})
    sums.add(1, {"step": {36: 8, 40: 2}})
    sums.add(0, {"step": {36: 20}, "init": {50: 1}})
    assert sums.total == {"step": {36: 28, 40: 2}, "init": {50: 1}}
    sums.add(1, {"step": {36: 3}})
    assert sums.total["step"] == {36: 23}
