"""Deadlines from what a job has shown: few samples widen, the spec limits, and phases are apart."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.durations import bucket
from hedgerow_operator.api.recovery import HealthSpec, PhaseSpec, StallSpec
from hedgerow_operator.core.deadlines import deadline, deadlines
from hedgerow_operator.core.durations import (
    Learned,
    count,
    decode_learned,
    encode_learned,
    longest,
    merge,
    observe,
    quantile,
    upper_seconds,
    worth_storing,
)
from hedgerow_operator.core.patience import TOGETHER_SECONDS, remaining, restart_cost, together

HEALTH = HealthSpec()
RANKS = 4


def shown(*lengths: tuple[float, int]) -> dict[int, int]:
    """A histogram of so many durations of each length, on every rank."""
    histogram: dict[int, int] = {}
    for seconds, amount in lengths:
        histogram[bucket(seconds)] = histogram.get(bucket(seconds), 0) + amount * RANKS
    return histogram


CASES: dict[str, tuple[str, dict[str, Any], HealthSpec, tuple[float, float]]] = {
    "a start that was never seen has the spec's limit": ("init", {}, HEALTH, (1800, 1800)),
    "so have steps": ("step", {}, HEALTH, (1800, 1800)),
    "one sample widens the deadline four times": ("step", {"step": shown((10.0, 1))}, HEALTH, (60, 75)),
    "many steps of a tenth of a second are cut off at the least": (
        "step", {"step": shown((0.1, 1000))}, HEALTH, (10, 10)),
    "many steady steps of ten seconds get half as much": ("step", {"step": shown((10.0, 1000))}, HEALTH, (15, 20)),
    "steps that vary have more": ("step", {"step": shown((5.0, 900), (12.0, 100))}, HEALTH, (28, 40)),
    "of a few steps the longest shows no tail yet: one is supposed": (
        "step", {"step": shown((8.0, 4), (12.0, 2))}, HEALTH, (36, 60)),
    "one step eight times as long ends a heavy tail: four times as long may come": (
        "step", {"step": shown((10.0, 399), (80.0, 1))}, HEALTH, (300, 390)),
    "one step that is a little longer ends none": ("step", {"step": shown((10.0, 399), (13.0, 1))}, HEALTH, (17, 24)),
    "a pause that recurs is part of life": ("step", {"step": shown((0.5, 5000), (45.0, 10))}, HEALTH, (67, 85)),
    "nothing is longer than the spec's most": ("step", {"step": shown((1500.0, 50))}, HEALTH, (1800, 1800)),
    "a user's most is kept": (
        "step", {"step": shown((50.0, 50))}, HealthSpec(stall=StallSpec(max_seconds=60)), (60, 60)),
    "a user's least is kept": (
        "step", {"step": shown((0.1, 50))}, HealthSpec(stall=StallSpec(min_seconds=90)), (90, 90)),
    "a phase that the spec names has the spec's limit, whatever was learned": (
        "eval", {"eval": shown((1.0, 50))}, HealthSpec(phases=(PhaseSpec(name="eval", max_seconds=7200),)),
        (7200, 7200)),
    "saving varies: three times its longest": ("checkpoint", {"checkpoint": shown((20.0, 100))}, HEALTH, (60, 80)),
    "the first step is learned apart from the others": (
        "first-step", {"step": shown((0.1, 1000)), "first-step": shown((60.0, 1))}, HEALTH, (1600, 1800)),
    "ending has a deadline of its own": ("ending", {}, HEALTH, (600, 600)),
    "which the user's most shortens": ("ending", {}, HealthSpec(stall=StallSpec(max_seconds=60)), (60, 60)),
}


@pytest.mark.parametrize("case", CASES)
def test_deadline(case: str) -> None:
    phase, learned, health, (least, most) = CASES[case]
    assert least <= deadline(phase, learned, health, RANKS) <= most


def test_every_usual_and_every_learned_phase_has_a_deadline() -> None:
    assert set(deadlines({"upload": shown((5.0, 1))}, HEALTH, RANKS)) == {
        "init", "first-step", "step", "checkpoint", "eval", "ending", "upload"}


@given(st.lists(st.floats(0.001, 5000.0), min_size=1, max_size=50), st.floats(0.01, 1.0))
def test_a_quantile_is_one_of_the_durations_within_a_bucket(lengths: list[float], share: float) -> None:
    histogram: dict[int, int] = {}
    for seconds in lengths:
        histogram[bucket(seconds)] = histogram.get(bucket(seconds), 0) + 1
    found = quantile(histogram, share)
    assert any(seconds <= found * 1.0001 and found <= seconds * 1.2 + 0.001 for seconds in lengths)
    assert found <= longest(histogram) == upper_seconds(max(histogram))


def test_an_empty_histogram_has_no_quantile() -> None:
    assert (quantile({}, 0.5), longest({}), count({})) == (0.0, 0.0, 0)


def test_a_broken_report_cannot_overflow() -> None:
    assert 7 * 86400 <= longest({10**9: 1}) < 10 * 86400


def test_what_was_learned_survives_the_annotation() -> None:
    learned = Learned(attempt=3, past={"step": {36: 5}}, current={"init": {44: 1}})
    assert decode_learned(encode_learned(learned)) == learned


@pytest.mark.parametrize("text", [None, "", "{", '{"attempt": "x"}', "[1]"])
def test_an_annotation_that_cannot_be_read_is_nothing_learned(text: str | None) -> None:
    assert decode_learned(text) == Learned()


def test_an_attempts_durations_replace_its_older_ones_and_join_the_past_at_the_next() -> None:
    first = observe(observe(Learned(), 1, {"step": {36: 5}}), 1, {"step": {36: 9}})
    assert first.phases() == {"step": {36: 9}}
    assert observe(first, 2, {"step": {36: 1}}).phases() == {"step": {36: 10}}


def test_fewer_launchers_heard_do_not_unlearn() -> None:
    learned = observe(Learned(), 1, {"step": {36: 9}})
    assert observe(learned, 1, {"step": {36: 4}}).phases() == {"step": {36: 9}}


def test_it_is_stored_at_a_new_attempt_and_when_half_as_much_again_was_learned() -> None:
    stored = observe(Learned(), 1, {"step": {36: 10}})
    assert worth_storing(Learned(), stored)
    assert not worth_storing(stored, observe(stored, 1, {"step": {36: 15}}))
    assert worth_storing(stored, observe(stored, 1, {"step": {36: 16}}))
    assert worth_storing(stored, observe(stored, 2, {"step": {36: 1}}))


def test_merging_adds() -> None:
    assert merge(({"a": {1: 1}}, {"a": {1: 2, 3: 1}, "b": {2: 1}})) == {"a": {1: 3, 3: 1}, "b": {2: 1}}


def test_a_restart_costs_a_usual_start_and_what_is_not_saved() -> None:
    learned = {"init": shown((20.0, 3)), "first-step": shown((4.0, 3))}
    assert 60 + 24 <= restart_cost(learned, 60.0) <= 60 + 24 * 1.19
    assert restart_cost({}, -5.0) == 30.0


def test_a_gang_is_watched_for_as_long_as_a_restart_would_cost_and_no_longer_than_the_limit() -> None:
    assert remaining(40.0, 15.0, 1800.0) == 25.0
    assert remaining(40.0, 50.0, 1800.0) == 0.0
    assert remaining(4000.0, 50.0, 1800.0) == 1750.0


def test_when_nobody_stands_out_it_is_watched_longer_and_twice_as_long_after_each_restart_for_it() -> None:
    assert (together(5.0, 0), together(5.0, 1), together(5.0, 3)) == (60.0, 120.0, 480.0)
    assert together(500.0, 0) == 500.0 > TOGETHER_SECONDS
