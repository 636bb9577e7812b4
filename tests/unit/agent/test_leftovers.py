"""What is said of processes that ranks left running when they ended by themselves."""

from __future__ import annotations

import os

import pytest

from hedgerow.kernel import Process
from hedgerow.leftovers import HELPERS_SECONDS, Leftovers

CODES = {0: 0, 1: 3}
GROUPS = {100: 0, 200: 1}
NOBODY = 2**22 + 1  # above the greatest process number, so that it has no variables to read


def process(number: int, group: int = NOBODY, session: int = NOBODY) -> Process:
    return Process(NOBODY + number, "S", 1, group, session, 0.0)


LEFT = {
    "a command that went into the background": (
        [process(1, group=100)], CODES, ["rank 0 ended with exit code 0 and left 1 process, which is ended"]),
    "a process in a group of its own, in the session of its rank": (
        [process(1, session=200)], CODES, ["rank 1 ended with exit code 3 and left 1 process, which is ended"]),
    "processes of two ranks": (
        [process(1, group=200), process(2, group=100), process(3, group=100)], CODES,
        ["rank 0 ended with exit code 0 and left 2 processes, which are ended",
         "rank 1 ended with exit code 3 and left 1 process, which is ended"]),
    "a process that has nothing of its rank any more": (
        [process(1)], CODES, ["the ranks have ended and left 1 process, which is ended"]),
    "a process that has nothing of the only rank any more": (
        [process(1)], {5: 0}, ["rank 5 ended with exit code 0 and left 1 process, which is ended"]),
}


@pytest.mark.parametrize("case", LEFT)
def test_told_of(case: str) -> None:
    alive, codes, lines = LEFT[case]
    left = Leftovers()
    left.begin(10.0)
    assert left.lines(alive, codes, GROUPS, 11.0) == lines
    assert left.lines(alive, codes, GROUPS, 12.0) == []


def test_a_process_is_known_by_the_variables_of_its_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hedgerow.kernel.environ", lambda pid: {"RANK": "1", "LOCAL_RANK": "1"})
    left = Leftovers()
    left.begin(10.0)
    mine = Process(os.getpid(), "S", 1, NOBODY, NOBODY, 0.0)
    assert left.lines([mine], CODES, {}, 11.0) == ["rank 1 ended with exit code 3 and left 1 process, which is ended"]


def test_helpers_get_a_moment_to_end_by_themselves() -> None:
    left = Leftovers()
    assert not left.may_end(10.0)
    left.begin(10.0)
    assert left.may_end(10.0)
    assert not left.may_end(10.0 + HELPERS_SECONDS)


def test_of_ranks_that_were_told_to_end_nothing_is_said() -> None:
    assert Leftovers().lines([process(1, group=100)], CODES, GROUPS, 11.0) == []
