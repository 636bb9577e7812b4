"""Healthy jobs are left alone: whole runs on a pretended clock, with everything that healthy jobs do."""

from collections.abc import Callable, Iterator

import pytest

from hedgerow import wire
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS
from hedgerow_operator.api.status import Ledger, TrainingJobStatus
from hedgerow_operator.core.deadlines import deadlines
from hedgerow_operator.core.durations import decode_learned
from hedgerow_operator.core.step import STARTING
from tests.unit.core.healthy_runs import RANKS, START, HealthyRun, Interval, after, every, steps

STATUS = TrainingJobStatus(
    attempt=1, placement=1, attempt_stage=STARTING, start_time="2027-01-15T08:00:00Z",
    attempt_started_at="2027-01-15T08:00:00Z", ledger=Ledger(idle_since_millis=round(START * 1000)),
)
NOBODY: tuple[int, ...] = ()
SAVE = Interval(wire.PHASE_CHECKPOINT, 20.0)
EVALUATE = Interval(wire.PHASE_EVAL, 120.0, NOBODY)

RUNS: dict[str, Callable[[], Iterator[Interval]]] = {
    "declared saving and evaluation": lambda: every(700, EVALUATE, every(200, SAVE, steps(0.5, 0.05))),
    "a pause of 45 s every 500 steps that says nothing, and works": lambda: every(
        500, Interval(wire.PHASE_STEP, 45.0), steps(0.5, 0.05)),
    "a pause of 45 s every 500 steps that says nothing and shows nothing": lambda: every(
        500, Interval(wire.PHASE_STEP, 45.0, NOBODY), steps(0.5, 0.05)),
    "rank 0 saves for two minutes without a word while the others wait for it": lambda: every(
        400, Interval(wire.PHASE_STEP, 120.0, (0,), alone=0), steps(0.5, 0.05)),
    "rank 0 saves for two minutes and says so while the others wait for it": lambda: every(
        400, Interval(wire.PHASE_CHECKPOINT, 120.0, NOBODY, alone=0), steps(0.5, 0.05)),
    "a cold first epoch": lambda: after(60, steps(6.0, 0.2), steps(0.5, 0.05)),
    "data that get slower": lambda: after(500, steps(0.5, 0.05), steps(4.0, 0.2)),
    "steps that vary wildly": lambda: steps(1.0, 0.8),
    "steps of 20 s that show no work": lambda: (
        Interval(entry.phase, entry.seconds, NOBODY) for entry in steps(20.0, 0.2)),
    "a first step of 5 minutes that compiles": lambda: iter(
        [Interval(wire.PHASE_INIT, 60.0), Interval(wire.PHASE_FIRST_STEP, 300.0)]
        + [Interval(wire.PHASE_STEP, 0.5)] * 20_000),
}


@pytest.mark.parametrize("name", RUNS)
def test_no_incident_and_no_restart_in(name: str) -> None:
    run = HealthyRun(RUNS[name](), STATUS)
    for passed in (600.0, 3600.0):
        run.run(START + passed - run.now)
        assert [event for event in run.events if event.warning] == []
        assert (run.job.status.incident, run.job.status.restarts, run.job.status.attempt_stage) == (None, 0, "Running")
        assert "stop" not in run.kinds


def test_a_slow_first_step_after_a_resume_is_no_stall_although_steps_are_known() -> None:
    first = HealthyRun(steps(0.5, 0.05), STATUS).run(300.0)
    slow = iter([Interval(wire.PHASE_INIT, 50.0, NOBODY), Interval(wire.PHASE_FIRST_STEP, 20.0, NOBODY)]
                + [Interval(wire.PHASE_STEP, 0.5)] * 2_000)
    again = HealthyRun(slow, STATUS)
    again.job = first.job
    again.run(300.0)
    assert (again.job.status.incident, [event for event in again.events if event.warning]) == (None, [])


def test_a_pause_that_recurs_becomes_part_of_the_deadline() -> None:
    run = HealthyRun(RUNS["a pause of 45 s every 500 steps that says nothing and shows nothing"](), STATUS).run(1200.0)
    learned = decode_learned(run.job.metadata.annotations[ANNOTATION_LEARNED_DURATIONS]).phases()
    assert 60 <= deadlines(learned, run.job.spec.health, RANKS)["step"] <= 120


def test_a_hang_in_such_a_run_is_found() -> None:
    hang = Interval(wire.PHASE_STEP, 400.0, NOBODY, alone=2)
    run = HealthyRun(every(1000, hang, steps(0.5, 0.05)), STATUS).run(600.0)
    assert run.job.status.stopping is not None
    assert run.job.status.incident is not None
    assert run.job.status.incident.ranks == (2,)
