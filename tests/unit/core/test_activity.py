"""Whether a rank computes, from what the kernel and the stacks say: measured, never assumed."""

from typing import Any

import pytest

from hedgerow_operator.core.activity import Computing, computing, describe, surely_idle
from tests.unit.core.builders import make_rank

DEADLINE = 10.0

CASES: dict[str, tuple[dict[str, Any], Computing]] = {
    "nothing measured": ({}, Computing.UNKNOWN),
    "no CPU for half the deadline": ({"idle_seconds": 5.0}, Computing.FROZEN),
    "no CPU for less is not told yet": ({"idle_seconds": 4.0}, Computing.UNKNOWN),
    "CPU, and nothing else measured, proves nothing": ({"idle_seconds": 0.0}, Computing.UNKNOWN),
    "CPU with a stack that stays": ({"idle_seconds": 0.0, "stack_unchanged_seconds": 5.0}, Computing.FROZEN),
    "CPU with a stack that moves": ({"idle_seconds": 0.0, "stack_unchanged_seconds": 0.0}, Computing.ACTIVE),
    "bytes that move": ({"idle_seconds": 30.0, "io_idle_seconds": 0.5}, Computing.ACTIVE),
    "no bytes and no CPU": ({"idle_seconds": 30.0, "io_idle_seconds": 30.0}, Computing.FROZEN),
    "a stopped process, whatever else": ({"process_state": "T", "io_idle_seconds": 0.1}, Computing.STOPPED),
    "a traced process": ({"process_state": "t"}, Computing.STOPPED),
}


@pytest.mark.parametrize("case", CASES)
def test_computing(case: str) -> None:
    fields, kind = CASES[case]
    rank = make_rank(0, progress_age=30.0, **fields)
    assert computing(rank.activity, rank.progress_age, DEADLINE) is kind


def test_a_long_phase_needs_a_long_idleness() -> None:
    rank = make_rank(0, progress_age=700.0, idle_seconds=100.0)
    assert computing(rank.activity, rank.progress_age, 600.0) is Computing.UNKNOWN
    rank = make_rank(0, progress_age=700.0, idle_seconds=301.0)
    assert computing(rank.activity, rank.progress_age, 600.0) is Computing.FROZEN


IDLE: dict[str, tuple[dict[str, Any], bool]] = {
    "nothing measured": ({}, False),
    "no CPU, bytes unknown": ({"idle_seconds": 30.0}, False),
    "no CPU and no bytes for most of the time": ({"idle_seconds": 16.0, "io_idle_seconds": 16.0}, True),
    "no bytes for a moment only": ({"idle_seconds": 30.0, "io_idle_seconds": 5.0}, False),
    "no CPU for a moment only": ({"idle_seconds": 5.0, "io_idle_seconds": 30.0}, False),
    "waiting for its storage, as at the end of a save": (
        {"idle_seconds": 30.0, "io_idle_seconds": 30.0, "process_state": "D"},
        False,
    ),
    "stopped": ({"process_state": "T"}, True),
}


@pytest.mark.parametrize("case", IDLE)
def test_surely_idle(case: str) -> None:
    fields, answer = IDLE[case]
    assert surely_idle(make_rank(0, progress_age=30.0, **fields)) is answer


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "gives no measurement"),
        ({"process_state": "T"}, "is stopped by a signal or debugger (process state T)"),
        ({"idle_seconds": 0.0}, "uses CPU"),
        ({"idle_seconds": 0.0, "cpu_share": 0.998, "process_state": "R"}, "uses a full CPU"),
        ({"idle_seconds": 0.0, "cpu_share": 0.35, "process_state": "S"}, "uses 35 % of a CPU"),
        ({"idle_seconds": 0.0, "cpu_share": 0.35, "process_state": "R"}, "uses 35 % of a CPU and wants more (state R)"),
        ({"idle_seconds": 0.0, "cpu_share": 3.97}, "uses 4.0 CPUs"),
        (
            {"progress_age": 40.0, "idle_seconds": 30.0, "wait_channel": "futex", "process_state": "S",
             "stack_unchanged_seconds": 20.0},
            "has used hardly any CPU for 30 s, waits in futex (state S), its stack has not changed for 20 s",
        ),
    ],
)
def test_in_words(fields: dict[str, Any], words: str) -> None:
    assert describe(make_rank(0, **fields)) == words


CPU_SINCE_PROGRESS: dict[str, tuple[dict[str, Any], str]] = {
    "a rank that was idle for longer than it has made no progress": (
        {"progress_age": 7.0, "idle_seconds": 12.0}, "has used hardly any CPU for 7.0 s"),
    "a rank that is caught early": ({"progress_age": 1.9, "idle_seconds": 4.0}, "has used hardly any CPU for 1.9 s"),
    "a rank that has just progressed, on little CPU": (
        {"progress_age": 0.6, "idle_seconds": 12.0, "cpu_share": 0.01}, "uses 1 % of a CPU"),
    "a rank that was busy for some time after its last progress": (
        {"progress_age": 30.0, "idle_seconds": 12.0}, "has used hardly any CPU for 12 s"),
}


@pytest.mark.parametrize("case", CPU_SINCE_PROGRESS)
def test_steps_that_were_done_are_never_told_as_idleness_of(case: str) -> None:
    fields, words = CPU_SINCE_PROGRESS[case]
    assert describe(make_rank(0, **fields)) == words
