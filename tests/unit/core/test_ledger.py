"""Goodput: what of the time since the first start was productive."""

import msgspec
import pytest

from hedgerow_operator.api.status import Ledger, StepMillis, TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.ledger import close_attempt, goodput_percent, lose_steps, lost_seconds, progress_seen
from tests.unit.core.builders import exited, frozen, make_gang, make_rank

NOW = 1_800_000_000.0
IDLE = Ledger(lost_millis=5000, idle_since_millis=round((NOW - 20) * 1000))


def test_idle_time_ends_with_the_first_step_of_every_rank() -> None:
    stepping = 36 * 0.1 + 0.1 + 0.5  # steps since the first, time since the last, age of the report
    heard_late = progress_seen(IDLE, make_gang(make_rank(0), make_rank(1)), NOW)
    assert heard_late == Ledger(lost_millis=5000 + round((20 - stepping) * 1000))


NOT_YET = {
    "a rank is still in its first step": make_gang(make_rank(0), make_rank(1, phase="first-step")),
    "a rank has not begun": make_gang(make_rank(0), make_rank(1, phase="init", beats=0)),
    "a rank has ended": make_gang(make_rank(0), exited(1)),
    "a rank is not heard": make_gang(make_rank(0), silent=(1,)),
}


@pytest.mark.parametrize("case", NOT_YET)
def test_idle_time_goes_on_while(case: str) -> None:
    assert progress_seen(IDLE, NOT_YET[case], NOW) == IDLE


def test_idle_time_begins_with_the_last_progress_that_any_rank_made() -> None:
    ledger = close_attempt(Ledger(), make_gang(frozen(0, age=40.0), frozen(1, age=30.0), age=0.5), NOW)
    assert ledger.idle_since_millis == round((NOW - 30.5) * 1000)


def test_it_begins_once() -> None:
    assert close_attempt(IDLE, make_gang(frozen(0, beats=0, step=None, phase="init")), NOW) == IDLE


def test_what_was_computed_before_a_hang_counts_although_it_was_never_heard_of() -> None:
    ledger = close_attempt(IDLE, make_gang(frozen(0, age=10.0)), NOW)
    assert ledger == Ledger(lost_millis=5000 + round((20 - 3.6 - 10.5) * 1000),
                            idle_since_millis=round((NOW - 10.5) * 1000))


def test_steps_that_are_computed_twice_are_lost_at_the_pace_of_the_job() -> None:
    pace = StepMillis(median=500, p99=900)
    assert lose_steps(Ledger(lost_millis=1000), 6, pace).lost_millis == 4000
    assert lose_steps(Ledger(lost_millis=1000), 6, None).lost_millis == 1000


STARTED = TrainingJobStatus(start_time=format_time(NOW - 100), ledger=Ledger(lost_millis=20_000))


def test_goodput_counts_what_is_lost_and_what_is_being_lost() -> None:
    assert goodput_percent(STARTED, NOW) == 80
    idling = Ledger(lost_millis=20_000, idle_since_millis=round((NOW - 30) * 1000))
    idle = msgspec.structs.replace(STARTED, ledger=idling)
    assert (lost_seconds(idle, NOW), goodput_percent(idle, NOW)) == (50.0, 50)


def test_nothing_changes_after_the_end() -> None:
    done = msgspec.structs.replace(STARTED, completion_time=format_time(NOW))
    assert goodput_percent(done, NOW + 9999) == goodput_percent(done, NOW) == 80


def test_before_the_first_start_there_is_none() -> None:
    assert goodput_percent(TrainingJobStatus(), NOW) is None
