"""Pauses that recur are their own kind of interval; one that is not due is no excuse."""

import pytest

from hedgerow_operator.core.pause import Pause, Pauses
from hedgerow_operator.core.pauses import allowed, apart


def pauses(*seen: tuple[float, int | None]) -> Pauses:
    """Pauses of 45 s that began at these times after these steps."""
    return Pauses(tuple(Pause(began, step, 45.0) for began, step in seen))


EVERY_500 = pauses((500.0, 500), (1045.0, 1000))
EVERY_10_MINUTES = pauses((600.0, 100), (1200.0, 190), (1800.0, 310))

CASES: dict[str, tuple[Pauses, float, int | None, bool]] = {
    "none was ever seen": (Pauses(), 100.0, 100, False),
    "the first was after step 500, and this is step 1000": (pauses((500.0, 500)), 1045.0, 1000, True),
    "the first was after step 500, and this is step 700": (pauses((500.0, 500)), 745.0, 700, False),
    "the first was after step 3, which sets no rhythm": (pauses((3.0, 3)), 51.0, 6, False),
    "every 500 steps, and the third is due": (EVERY_500, 1590.0, 1500, True),
    "every 500 steps, and one was missed": (EVERY_500, 2090.0, 2000, True),
    "every 500 steps, and this is step 1200": (EVERY_500, 1245.0, 1200, False),
    "every ten minutes, whatever the step": (EVERY_10_MINUTES, 2400.0, 420, True),
    "every ten minutes, and only three have passed": (EVERY_10_MINUTES, 1980.0, 340, False),
    "no rhythm at all, but three times: a habit": (
        pauses((100.0, 90), (700.0, 650), (870.0, 810)), 1500.0, 1400, True),
    "no step is told, the time is": (pauses((600.0, None), (1200.0, None)), 1800.0, None, True),
}


@pytest.mark.parametrize("case", CASES)
def test_when(case: str) -> None:
    seen, began, step, due = CASES[case]
    limit = 67.5 if len(seen.seen) >= 3 and "no rhythm" not in case else 90.0
    assert allowed(seen, began, step) == (limit if due else 0.0)


def test_only_the_newest_are_kept() -> None:
    seen = Pauses()
    for number in range(100):
        seen = seen.add(Pause(float(number), number, 1.0))
    assert (len(seen.seen), seen.seen[-1].step) == (16, 99)


LENGTHS: dict[int, int] = {40: 5000, 62: 10}
APART: dict[str, tuple[Pauses, bool]] = {
    "every 500 steps, three times": (pauses((500.0, 500), (1045.0, 1000), (1590.0, 1500)), True),
    "every ten minutes, only three times": (EVERY_10_MINUTES, False),
    "every ten minutes, five times": (
        pauses((600.0, 90), (1200.0, 210), (1800.0, 290), (2400.0, 420), (3000.0, 480)), True),
    "five times, at no rhythm": (
        pauses((600.0, 90), (1200.0, 210), (1530.0, 290), (2400.0, 420), (2900.0, 480)), False),
}


@pytest.mark.parametrize("case", APART)
def test_pauses_are_told_apart_from_steps(case: str) -> None:
    seen, are = APART[case]
    assert apart(seen, LENGTHS) == ({40: 5000} if are else LENGTHS)
