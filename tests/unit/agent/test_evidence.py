"""Samples become evidence; what could not be read is None, never 0."""

from __future__ import annotations

import pytest

from hedgerow import kernel, stacks
from hedgerow.activity import ActivityFold, Sample
from hedgerow.output import Tail
from hedgerow.stacks import normalise
from hedgerow.wire import Activity


def folded(cpu: list[float | None], moved: list[int | None] | None = None) -> Activity:
    """One sample each half second, from time 0."""
    fold = ActivityFold()
    bytes_moved = moved or [0] * len(cpu)
    for number, (seconds, count) in enumerate(zip(cpu, bytes_moved, strict=True)):
        fold.add(Sample(number / 2, "S", "futex", seconds, count))
    return fold.activity((len(cpu) - 1) / 2, None)


IDLE: dict[str, tuple[list[float | None], float | None]] = {
    "too few samples to say": ([1.0, 1.0, 1.0], None),
    "idle since the first sample": ([1.0] * 9, 4.0),
    "busy all the time": ([n * 0.5 for n in range(9)], 0.0),
    "a share of 1 % is idle": ([n * 0.005 for n in range(21)], 10.0),
    "a share of 4 % is not": ([n * 0.02 for n in range(21)], 0.0),
    "busy, then idle": ([0.0, 0.5, 1.0, 1.5, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0], 1.5),
    "unreadable": ([None] * 9, None),
    "unreadable at the end": ([1.0] * 8 + [None], None),
    "a child's time that went with it is not idleness": ([5.0] * 8 + [1.0], 0.0),
}


@pytest.mark.parametrize(("cpu", "idle"), IDLE.values(), ids=IDLE.keys())
def test_how_long_a_rank_used_no_cpu(cpu: list[float | None], idle: float | None) -> None:
    assert folded(cpu).idle_seconds == idle


SHARE: dict[str, tuple[list[float | None], float | None]] = {
    "a loop that spins": ([n * 0.5 for n in range(9)], 1.0),
    "nothing": ([1.0] * 9, 0.0),
    "a full core since two seconds ago": ([0.0] * 5 + [0.5, 1.0, 1.5, 2.0], 1.0),
    "too few samples to say": ([1.0, 1.0, 1.0], None),
    "unreadable at the end": ([1.0] * 8 + [None], None),
    "a child's time that went with it": ([5.0] * 8 + [1.0], None),
}


@pytest.mark.parametrize(("cpu", "share"), SHARE.values(), ids=SHARE.keys())
def test_how_much_of_a_core_a_rank_uses(cpu: list[float | None], share: float | None) -> None:
    assert folded(cpu).cpu_share == share


@pytest.mark.parametrize(
    ("moved", "idle"),
    [([5, 5, 5, 5, 5], 2.0), ([5, 6, 7, 8, 9], 0.0), ([5, 6, 6, 6, 6], 1.5), ([None] * 5, None)],
    ids=["nothing", "always something", "something once", "unreadable"],
)
def test_how_long_a_rank_moved_no_bytes(moved: list[int | None], idle: float | None) -> None:
    assert folded([0.0] * 5, moved).io_idle_seconds == idle


def test_a_name_with_brackets_and_spaces_is_no_obstacle() -> None:
    text = "12 (a (b) c) T 1 12 11 0 -1 0 0 0 0 0 100 50 20 30 20 0 1 0 777"
    process = kernel.parse_stat(text)
    assert (process.pid, process.state, process.parent, process.group, process.session) == (12, "T", 1, 12, 11)
    assert process.cpu_seconds == pytest.approx(200 / 100)
    assert process.start == 777


ONE = """Thread 0x00007f01 (most recent call first):
  File "a.py", line 3 in wait

Current thread 0x00007f02 (most recent call first):
  File "b.py", line 9 in loop"""
SAME = """Current thread 0x00007f01 (most recent call first):
  File "a.py", line 3 in wait

Thread 0x00007f02 (most recent call first):
  File "b.py", line 9 in loop
"""
MOVED = SAME.replace("line 9", "line 10")


def test_two_samples_are_equal_whichever_thread_took_the_signal() -> None:
    assert normalise(ONE) == normalise(SAME)


def test_two_samples_differ_when_any_thread_moved() -> None:
    assert normalise(ONE) != normalise(MOVED)


def test_the_tail_keeps_the_last_lines_and_what_has_not_ended_yet() -> None:
    tail = Tail()
    tail.add(1, b"".join(b"line %d\n" % n for n in range(100)))
    tail.add(2, b"Tracebac")
    assert tail.lines() == [f"line {n}" for n in range(81, 100)] + ["Tracebac"]
    tail.add(2, b"k\r\n" + b"x" * 1000 + b"\n")
    assert tail.lines()[-2:] == ["Traceback", "x" * 400]


def test_of_a_large_piece_the_last_lines_are_kept_whole() -> None:
    tail = Tail()
    tail.add(1, b"begun, ")
    tail.add(1, b"ended\n" + b"line\r\n" * 100_000 + b"".join(b"%d%%\rlast %d\n" % (n, n) for n in range(20)) + b"un")
    tail.add(1, b"finished")
    assert tail.lines()[-4:] == ["last 18", "19%", "last 19", "unfinished"]
    assert len(tail.lines()) == 20


def test_a_progress_bar_is_a_series_of_lines() -> None:
    tail = Tail()
    tail.add(1, b"\r10 %\r20 %\r30 %")
    assert tail.lines() == ["10 %", "20 %", "30 %"]


def test_a_long_sample_keeps_the_innermost_frames_of_the_main_thread() -> None:
    others = "".join(f'Thread 0x{number:04x} (most recent call first):\n  File "pool.py", line 1 in wait\n\n'
                     for number in range(500))
    deep = "".join(f'  File "train.py", line {line} in level_{line}\n' for line in range(500))
    kept = stacks.shorten(others + "Current thread 0x01 (most recent call first):\n" + deep)
    assert kept.startswith('Current thread 0x01 (most recent call first):\n  File "train.py", line 0 in level_0\n')
    assert len(kept) == stacks.MAX_BYTES
