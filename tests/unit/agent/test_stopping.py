"""TERM once, KILL when grace is over or was never given."""

from __future__ import annotations

import dataclasses

import pytest

from hedgerow.kernel import Process
from hedgerow.stopping import SEND_KILL, SEND_TERM, Stop, due, harden
from hedgerow.survivors import survivors

GENTLE = Stop(100.0, 30.0, False, "Command")
SENT = dataclasses.replace(GENTLE, term_sent=True)


@pytest.mark.parametrize(
    ("stop", "now", "signal"),
    [
        (GENTLE, 100.0, SEND_TERM),
        (SENT, 129.9, None),
        (SENT, 130.0, SEND_KILL),
        (SENT, 500.0, SEND_KILL),
        (Stop(100.0, 30.0, True, "Fence"), 100.0, SEND_KILL),
        (Stop(100.0, 0.0, False, "Command"), 100.0, SEND_KILL),
        (harden(SENT, True, 30.0, 105.0), 105.0, SEND_KILL),
        (harden(SENT, False, 2.0, 105.0), 106.9, None),
        (harden(SENT, False, 2.0, 105.0), 107.0, SEND_KILL),
        (harden(SENT, False, 600.0, 105.0), 130.0, SEND_KILL),
    ],
    ids=[
        "TERM comes first",
        "then grace",
        "KILL when grace is over",
        "KILL again for what was forked meanwhile",
        "KILL at once when told so",
        "no grace is KILL at once",
        "a second order may kill",
        "a second order may shorten grace",
        "and then KILL is due sooner",
        "a second order never lengthens grace",
    ],
)
def test_the_signal_that_is_due(stop: Stop, now: float, signal: str | None) -> None:
    assert due(stop, now) == signal


def process(pid: int, parent: int, group: int = 0, session: int = 0, state: str = "S") -> Process:
    return Process(pid, state, parent, group or pid, session or pid, 0.0)


@pytest.mark.parametrize(
    ("entry", "counts"),
    [
        (process(20, 10), True),
        (process(30, 20, 20, 20), True),
        (process(40, 1, 20), True),
        (process(41, 1, 41, 20), True),
        (process(50, 10, 50, 50), True),
        (process(60, 1), False),
        (process(20, 10, state="Z"), False),
        (process(20, 10, state="T"), True),
    ],
    ids=[
        "the rank itself",
        "its child",
        "an orphan in its group",
        "an orphan in its session",
        "an orphan that the launcher adopted",
        "a stranger",
        "a zombie is gone",
        "a stopped process is there",
    ],
)
def test_what_counts_as_alive_of_rank_20(entry: Process, counts: bool) -> None:
    table = {10: process(10, 1), 20: process(20, 10, state="Z"), entry.pid: entry}
    assert survivors([10], [20], table) == ([entry] if counts else [])


def test_the_helper_of_the_launcher_is_no_survivor() -> None:
    table = {10: process(10, 1), 30: process(30, 10), 31: process(31, 10)}
    assert survivors([10], [20], table, helper=30) == [table[31]]
