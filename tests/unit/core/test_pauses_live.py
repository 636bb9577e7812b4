"""Jobs that pause by themselves, as the operator lives through them: reports every moment, decisions, its memory."""

from collections.abc import Iterator

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS
from hedgerow_operator.api.status import Ledger, TrainingJobStatus
from hedgerow_operator.core.durations import decode_learned
from hedgerow_operator.core.step import STARTING
from hedgerow_operator.core.watching.job_watch import JobWatch
from tests.unit.core.healthy_runs import START, HealthyRun, Interval, every, steps

STATUS = TrainingJobStatus(
    attempt=1, placement=1, attempt_stage=STARTING, start_time="2027-01-15T08:00:00Z",
    attempt_started_at="2027-01-15T08:00:00Z", ledger=Ledger(idle_since_millis=round(START * 1000)),
)
NOBODY: tuple[int, ...] = ()
STEP = 0.5


def by_step(pause: float = 45.0) -> Iterator[Interval]:
    """A pause every 500 steps in which no rank shows any work."""
    return every(500, Interval(wire.PHASE_STEP, pause, NOBODY), steps(STEP, 0.05))


def by_time(pause: float = 45.0) -> Iterator[Interval]:
    """A pause every ten minutes, whatever the step: steps become slower and faster."""
    passed = 0.0
    for number, interval in enumerate(steps(STEP, 0.05)):
        slowly = msgspec.structs.replace(interval, seconds=interval.seconds * (1.0 + 0.04 * (number // 700 % 3)))
        passed += slowly.seconds
        yield slowly
        if passed >= 600.0:
            passed = 0.0
            yield Interval(wire.PHASE_STEP, pause, NOBODY)


RHYTHMS = {"every 500 steps": by_step, "every ten minutes": by_time}


def warnings(run: HealthyRun) -> list[str]:
    return [event.message for event in run.events if event.warning]


def learned(run: HealthyRun) -> int:
    return len(decode_learned(run.job.metadata.annotations[ANNOTATION_LEARNED_DURATIONS]).pauses)


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_a_job_that_pauses_is_healthy_once_some_pauses_were_seen(rhythm: str) -> None:
    run = HealthyRun(RHYTHMS[rhythm](), STATUS, watched=True).run(2400.0)
    told = len(run.events)
    run.run(1800.0)
    assert run.job.status.restarts == 0
    assert "stop" not in run.kinds
    assert [event for event in run.events[told:] if event.warning] == []


def test_what_is_learned_of_pauses_has_a_fixed_size() -> None:
    assert learned(HealthyRun(by_step(), STATUS, watched=True).run(4900.0)) == 16


def hang_after(count: int, run: Iterator[Interval]) -> Iterator[Interval]:
    """The run, until rank 2 never comes back after so many intervals."""
    for _ in range(count):
        yield next(run)
    yield Interval(wire.PHASE_STEP, 900.0, NOBODY, alone=2)


# A pause begins after step 501 k. Each: after how many intervals the job hangs, found within how many seconds.
HANGS = {"between pauses": (1700, 20.0), "right after a pause": (2_010, 20.0), "as a pause is due": (2_004, 90.0)}


@pytest.mark.parametrize("place", HANGS)
def test_a_hang_is_found_soon(place: str) -> None:
    after, seconds = HANGS[place]
    run = HealthyRun(hang_after(after, by_step()), STATUS, watched=True)
    run.run(after * STEP * 1.4 + 300.0)
    assert run.stood_still is not None
    assert run.stood_still <= seconds
    assert run.job.status.incident is not None
    assert run.job.status.incident.ranks == (2,)


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_an_operator_that_was_restarted_still_knows_the_pauses(rhythm: str) -> None:
    run = HealthyRun(RHYTHMS[rhythm](), STATUS, watched=True).run(2500.0)
    before = learned(run)
    run.watch = JobWatch()
    told = len(run.events)
    run.run(900.0)
    assert learned(run) > before
    assert [event for event in run.events[told:] if event.warning] == []


def test_the_next_attempt_pauses_at_the_steps_that_are_known() -> None:
    first = HealthyRun(by_step(), STATUS, watched=True).run(2400.0)
    status = msgspec.structs.replace(STATUS, attempt=2, placement=2, resume_step=1100)
    again = HealthyRun(by_step(), status, resume=1000, watched=True)
    again.job = msgspec.structs.replace(first.job, status=status)
    again.run(1200.0)
    assert warnings(again) == []
