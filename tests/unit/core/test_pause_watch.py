"""Which intervals between steps are remembered as pauses, by the reports of a launcher."""

from typing import Any

import pytest

from hedgerow import wire
from hedgerow.durations import Histogram, add
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core.pause import Pause
from hedgerow_operator.core.watching.pause_watch import PauseWatch
from tests.unit.core.builders import make_rank, make_report

USUAL: Histogram = {}
add(USUAL, 1.0, 1000)
BEFORE: dict[str, Any] = {"beats": 500, "step": 500, "progress_age": 44.0, "step_seconds": 1.0}
AFTER: dict[str, Any] = {"beats": 503, "step": 503, "progress_age": 0.5, "step_seconds": 1.0}

# Each: what is different, and the pause that is remembered (begun 44 s before 1000.0; told of again 5 s later).
CASES: dict[str, tuple[dict[str, Any], tuple[Pause, ...]]] = {
    "a pause, and two usual steps after it": ({}, (Pause(956.0, 500, 46.5, 2),)),
    "a pause that torch's hook counts from the resumed step": ({"source": "Torch"}, (Pause(956.0, 1500, 46.5, 2),)),
    "a step that takes its time, but within the deadline": ({"progress_age": 4.0}, ()),
    "a declared phase": ({"phase": "checkpoint"}, ()),
    "the first step": ({"phase": "first-step"}, ()),
    "lines that are held back in a pipe": ({"bursty": True}, ()),
}


@pytest.mark.parametrize("case", CASES)
def test_remembered_of(case: str) -> None:
    changes, pauses = CASES[case]
    watch = PauseWatch(HealthSpec(), 1, 2, 1000)
    shared = {name: value for name, value in changes.items() if name in ("source", "bursty")}
    watch.add(make_report(make_rank(0, **{**BEFORE, **changes})), lambda: {wire.PHASE_STEP: USUAL}, 1000.0)
    watch.add(make_report(make_rank(0, **{**AFTER, **shared})), lambda: {wire.PHASE_STEP: USUAL}, 1005.0)
    assert watch.pauses == pauses


def test_reports_that_were_not_heard_for_a_while_are_no_pause() -> None:
    watch = PauseWatch(HealthSpec(), 1, 2)
    for beats, now in ((500, 1000.0), (501, 1900.0)):
        rank = make_rank(0, beats=beats, step=beats, progress_age=0.2)
        watch.add(make_report(rank), lambda: {wire.PHASE_STEP: USUAL}, now)
    assert watch.pauses == ()
