"""Intervals between boundaries become durations of the phase that they began with."""

from __future__ import annotations

import pytest

from hedgerow import durations
from hedgerow.progress import Progress
from hedgerow.record import Boundary, Reading
from hedgerow.wire import DURATION_GROWTH, PHASE_FIRST_STEP, PHASE_INIT, PHASE_STEP

SECOND = 1_000_000_000


def reading(*boundaries: tuple[float, int, str], first: int = 0) -> Reading:
    entries = [
        Boundary(first + n, int(at * SECOND), step, phase, "Library") for n, (at, step, phase) in enumerate(boundaries)
    ]
    return Reading(first + len(entries), 1, entries)


def lengths(progress: Progress) -> dict[str, dict[int, int]]:
    return {phase: dict(histogram) for phase, histogram in progress.histograms.items()}


def expected(**phases: list[float]) -> dict[str, dict[int, int]]:
    result: dict[str, dict[int, int]] = {}
    for phase, values in phases.items():
        for value in values:
            durations.add(result.setdefault(phase.replace("_", "-"), {}), value)
    return result


def test_nothing_seen_is_init_since_the_start() -> None:
    progress = Progress(10 * SECOND)
    assert (progress.phase, progress.step, progress.boundaries) == (PHASE_INIT, None, 0)
    assert progress.age(25 * SECOND) == 15.0


def test_the_first_step_interval_is_recorded_apart() -> None:
    progress = Progress(0)
    progress.fold(reading((20, 1, PHASE_STEP)))
    assert progress.phase == PHASE_FIRST_STEP
    progress.fold(reading((50, 2, PHASE_STEP), (52, 3, PHASE_STEP), (54, 4, PHASE_STEP), first=1))
    assert progress.phase == PHASE_STEP
    assert lengths(progress) == expected(init=[20], first_step=[30], step=[2, 2])
    assert progress.step_seconds == 2.0


def test_an_interval_belongs_to_the_phase_that_it_began_with() -> None:
    progress = Progress(0)
    progress.fold(reading((1, 1, "step"), (2, 2, "step"), (3, 2, "checkpoint"), (10, 3, "step"), (11, 3, "eval")))
    assert lengths(progress) == expected(init=[1], first_step=[1], step=[1, 1], checkpoint=[7])
    assert (progress.phase, progress.step) == ("eval", 3)


def test_a_phase_before_the_first_step_leaves_the_first_step_to_come() -> None:
    progress = Progress(0)
    progress.fold(reading((1, 0, "load"), (5, 1, "step")))
    assert progress.phase == PHASE_FIRST_STEP
    assert lengths(progress) == expected(init=[1], load=[4])


def test_missed_boundaries_are_counted_with_their_mean_length() -> None:
    progress = Progress(0)
    progress.fold(reading((1, 1, "step"), (2, 2, "step"), (3, 3, "step")))
    progress.fold(reading((13, 104, "step"), (13.1, 105, "step"), first=102))
    steps = lengths(progress)[PHASE_STEP]
    assert sum(steps.values()) == 1 + 99 + 1 + 1
    assert steps[durations.bucket(0.1)] >= 100
    assert progress.boundaries == 104


def test_a_ring_that_overran_before_the_first_look_tells_no_length_of_init() -> None:
    progress = Progress(0)
    progress.fold(reading((13, 104, "step"), (13.1, 105, "step"), first=500))
    assert PHASE_INIT not in progress.histograms
    assert PHASE_FIRST_STEP not in progress.histograms


def test_the_same_reading_twice_changes_nothing() -> None:
    progress = Progress(0)
    assert progress.fold(reading((1, 1, "step")))
    assert not progress.fold(Reading(1, 1, []))
    assert progress.boundaries == 1


@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [(0.0, 0), (0.0005, 0), (0.001, 0), (0.0010001, 1), (DURATION_GROWTH / 1000, 1), (0.002, 4), (86400, 106)],
)
def test_a_duration_falls_into_the_bucket_of_the_wire_format(seconds: float, bucket: int) -> None:
    assert durations.bucket(seconds) == bucket
