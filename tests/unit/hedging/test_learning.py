"""What is learned of a provider: its quick mode, however sick it is at times; when it was late; and when it will be."""

import random

import pytest

from hedgerow_operator.core.hedging.learning import Attempted, Learning
from hedgerow_operator.core.hedging.load import LoadCap
from hedgerow_operator.core.hedging.quantiles import Quantiles


def quick(seconds: float = 1.2, gap: float = 30.0) -> Attempted:
    return Attempted(started_after=seconds, answered_after=seconds + 5, gap_seconds=gap)


def cold(gap: float = 30.0) -> Attempted:
    return Attempted(stopped_after=6.0, gap_seconds=gap)


def learned(*attempts: Attempted) -> Learning:
    learning = Learning()
    for attempted in attempts:
        learning.learn(attempted, 0.0)
    return learning


def test_nothing_is_known_of_a_provider_before_it_has_shown_something() -> None:
    assert learned(*[quick()] * 4).pace(0.0).start_seconds is None
    assert learned(*[quick()] * 5).pace(0.0).start_seconds == pytest.approx(1.2, rel=0.02)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
def test_however_often_it_is_cold_its_quick_mode_is_told_apart(share: float) -> None:
    chance = random.Random(1)
    attempts = [
        Attempted(started_after=chance.uniform(9, 28)) if chance.random() < share else quick(chance.uniform(1.1, 1.3))
        for _ in range(200)
    ]
    pace = learned(*attempts).pace(0.0)
    assert pace.start_seconds is not None
    assert 1.1 < pace.start_seconds < 1.35
    assert pace.start_limit is not None
    assert pace.start_limit < 9


def test_one_that_is_never_quick_any_more_is_learned_anew() -> None:
    learning = learned(*[quick()] * 100)
    for _ in range(140):
        learning.learn(Attempted(started_after=20.0), 0.0)
    assert learning.pace(0.0).start_seconds == pytest.approx(20.0, rel=0.02)


def late(seconds: float) -> Attempted:
    return Attempted(started_after=seconds, answered_after=seconds + 4)


def test_late_attempts_that_answer_show_when_late_ones_begin_and_answer() -> None:
    pace = learned(*[quick()] * 5, late(4.0), cold(), late(5.0), late(6.0)).pace(0.0)
    assert (pace.late_start_seconds, pace.late_answer_seconds) == (6.0, 10.0)


@pytest.mark.parametrize("others", [[], [late(4.0)], [late(4.0), late(5.0), *[cold()] * 4]])
def test_it_is_not_waited_for_late_ones_that_were_mostly_overtaken_or_that_are_few(others: list[Attempted]) -> None:
    assert learned(*[quick()] * 5, *others).pace(0.0).late_answer_seconds is None


def test_late_attempts_of_long_ago_count_no_more() -> None:
    assert learned(*[quick()] * 5, *[late(4.0)] * 9, *[cold()] * 12).pace(0.0).late_answer_seconds is None


def test_what_was_given_up_before_its_time_says_nothing_of_lateness() -> None:
    learning = learned(*[quick()] * 5, Attempted(stopped_after=1.0))
    assert learning.pace(0.0).late == 0.0


def test_the_newest_attempts_count_most_and_all_of_them_less_as_time_passes() -> None:
    learning = learned(*[quick()] * 5, cold(), cold())
    assert learning.pace(0.0).late == pytest.approx(0.7)
    assert learning.pace(300.0).late == pytest.approx(0.35)
    learning.learn(quick(), 0.0)
    assert learning.pace(0.0).late == pytest.approx(0.5)


def test_a_failure_is_late() -> None:
    assert learned(Attempted(failed=True)).pace(0.0).late == 1.0


def test_after_a_long_gap_it_is_cold_once_it_was_so_three_times() -> None:
    attempts = [*[quick()] * 5, cold(900), quick(), cold(900)]
    assert not learned(*attempts).pace(0.0, 900).cold
    learning = learned(*attempts, quick(), cold(900))
    assert learning.pace(0.0, 900).cold
    assert not learning.pace(0.0, 100).cold


def test_quantiles_of_two_gateways_are_merged() -> None:
    one, other = Quantiles(), Quantiles()
    for _ in range(10):
        one.add(1.0)
        other.add(1.5)
    one.merge(other)
    found = one.quick()
    assert found is not None
    assert (one.count, found.upper) == (20, pytest.approx(1.5, rel=0.02))


def test_they_take_no_more_memory_however_many_values_there_are() -> None:
    values = Quantiles()
    for number in range(10_000):
        values.add(1 + number % 100)
    assert values.count <= 128


def test_hedges_are_a_share_of_the_requests_with_some_in_hand() -> None:
    load = LoadCap(0.2, burst=2.0)
    made = 0
    for _request in range(100):
        load.request()
        if load.allows():
            load.take()
            made += 1
    assert made == pytest.approx(22, abs=1)


def test_a_switch_from_a_free_place_is_no_more_work() -> None:
    load = LoadCap(0.0, burst=1.0)
    for _request in range(5):
        assert load.allows()
        load.take()
        load.give_back()
