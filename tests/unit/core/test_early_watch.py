"""A standstill shows before its deadline, with two evidences, and nothing is restarted by it."""

from typing import Any

import pytest

from hedgerow.durations import bucket
from hedgerow_operator.api.recovery import HealthSpec, PhaseSpec
from hedgerow_operator.core.deadlines import deadlines
from hedgerow_operator.core.early_watch import early_limits, early_verdict
from hedgerow_operator.core.verdict import Kind
from tests.unit.core.builders import frozen, make_gang, make_rank

HEALTH = HealthSpec()


def shown(*lengths: tuple[float, int]) -> dict[int, int]:
    """A histogram of so many durations of each length."""
    return {bucket(seconds): amount for seconds, amount in lengths}


LIMITS: dict[str, tuple[str, dict[str, Any], HealthSpec, tuple[float, float]]] = {
    "what was never seen has its deadline": ("step", {}, HEALTH, (1800, 1800)),
    "fast steps leave time for stacks before the least deadline": ("step", {"step": shown((0.5, 500))}, HEALTH, (6, 6)),
    "steps of a minute": ("step", {"step": shown((60.0, 500))}, HEALTH, (75, 240)),
    "steps that vary": ("step", {"step": shown((5.0, 900), (20.0, 100))}, HEALTH, (20, 30)),
    "steps with a heavy tail reach as far as their third longest tells": (
        "step", {"step": shown((6.0, 380), (15.0, 14), (30.0, 4), (60.0, 2))}, HEALTH, (60, 120)),
    "one long pause is no tail": ("step", {"step": shown((6.0, 499), (60.0, 1))}, HEALTH, (15, 20)),
    "a pause that has come three times is a length of its own": (
        "step", {"step": shown((6.0, 497), (60.0, 3))}, HEALTH, (60, 90)),
    "an evaluation that was seen a few times": ("eval", {"eval": shown((100.0, 4))}, HEALTH, (250, 400)),
    "a phase that the spec names has the spec's limit": (
        "eval", {"eval": shown((1.0, 50))}, HealthSpec(phases=(PhaseSpec(name="eval", max_seconds=900),)), (900, 900)),
    "the end has its own": ("ending", {}, HEALTH, (600, 600)),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_where(name: str) -> None:
    phase, learned, health, (least, most) = LIMITS[name]
    limit = early_limits(learned, health, 1)[phase]
    assert least <= limit <= most
    assert limit <= deadlines(learned, health, 1)[phase]


VERDICTS: dict[str, tuple[list[Any], float, tuple[int, ...] | None]] = {
    "one never reached the step in which the other waits": ([frozen(0, 8.0, step=36), frozen(1, 8.0)], 0.5, (0,)),
    "all progress": ([make_rank(0), make_rank(1)], 0.5, None),
    "a rank moves bytes": ([make_rank(0, progress_age=8.0, io_idle_seconds=0.0), frozen(1, 8.0)], 0.5, None),
    "nothing can be measured, and it is not late enough": ([make_rank(rank, progress_age=8.0) for rank in (0, 1)], 0.5,
                                                           None),
    "nothing can be measured, and it is late": ([make_rank(rank, progress_age=9.5) for rank in (0, 1)], 0.5, ()),
    "no launcher was heard in time": ([frozen(0, 8.0, step=36), frozen(1, 8.0)], 9.0, None),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_suspect_where(name: str) -> None:
    ranks, age, named = VERDICTS[name]
    verdict = early_verdict(make_gang(*ranks, age=age), {"step": 6.0}, speaks=True)
    assert (verdict.ranks if verdict.kind is Kind.STALLED else None) == named


def test_a_launcher_that_missed_its_report_while_the_others_stand_still_is_named() -> None:
    gang = make_gang(frozen(0, 8.0), frozen(1, 8.0), silent=(2,))
    verdict = early_verdict(gang, {"step": 6.0}, speaks=True)
    assert (verdict.kind, verdict.ranks) == (Kind.STALLED, (2,))
