"""What lines say becomes progress by the time of their arrival, and values by the newest of each name."""

from __future__ import annotations

import time

import pytest

from hedgerow import environment
from hedgerow.log_progress import LogProgress, Seen
from hedgerow.log_reader import LogReader, RankLog
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_FIRST_STEP, PHASE_STEP

SECOND = 1_000_000_000
MEGATRON = (
    b" iteration %8d/  100000 | consumed samples: 10752 | elapsed time per iteration (ms): 512.3 | lm loss: %s |\n"
)


def line(at: float, step: int | None, phase: str | None = PHASE_STEP, **values: float) -> Seen:
    return Seen(int(at * SECOND), Observation("megatron", step=step, phase=phase, boundary=True, values=values))


def test_lines_are_boundaries_at_the_time_of_their_arrival() -> None:
    log = LogProgress(0)
    assert log.fold([line(20, 10), line(40, 20), line(50, 30), line(60, 40)])
    progress = log.progress
    assert (progress.step, progress.phase, progress.boundaries) == (40, PHASE_STEP, 4)
    assert progress.source == environment.SOURCE_LOG
    assert progress.age(75 * SECOND) == 15.0
    assert progress.step_seconds == 1.0, "a line for every ten steps"
    assert {phase: sum(counts.values()) for phase, counts in progress.histograms.items()} == {
        "init": 1, PHASE_FIRST_STEP: 1, PHASE_STEP: 2,
    }  # fmt: skip


def test_a_line_without_step_or_phase_goes_on_with_the_last() -> None:
    log = LogProgress(0)
    log.fold([line(1, 5, "eval"), line(2, None, None)])
    assert (log.progress.step, log.progress.phase) == (5, "eval")


def test_a_burst_is_one_interval_of_all_its_steps() -> None:
    log = LogProgress(0)
    bursts = [line(30 * burst + step * 1e-6, 30 * burst + step) for burst in range(5) for step in range(30)]
    log.fold(bursts)
    assert log.bursty
    assert log.progress.boundaries == 150
    assert log.progress.step == 149
    assert log.progress.step_seconds == pytest.approx(1.0)
    assert sum(log.progress.histograms[PHASE_STEP].values()) == 3


def test_values_come_from_lines_that_are_no_progress_too() -> None:
    log = LogProgress(0)
    assert not log.fold([Seen(1, Observation("huggingface", values={"loss": 2.0})), Seen(2, Observation("mlperf"))])
    log.fold([line(1, 1, loss=1.5, grad_norm=0.1)])
    assert log.values == {"loss": 1.5, "grad_norm": 0.1}


def started(backlog: int) -> LogReader:
    reader = LogReader(backlog)
    reader.start()
    return reader


def awaited(log: RankLog, count: int) -> list[Seen]:
    end, seen = time.monotonic() + 100, log.take()
    while len(seen) < count and time.monotonic() < end:
        time.sleep(0.005)
        seen += log.take()
    return seen


def test_streams_do_not_mix() -> None:
    reader, log = started(1 << 20), RankLog()
    whole = MEGATRON % (7, b"1.0")
    reader.offer(log, 1, whole[:40])
    reader.offer(log, 2, b"a warning\n")
    reader.offer(log, 1, whole[40:])
    assert [seen.said.step for seen in awaited(log, 1)] == [7]


def test_what_comes_too_fast_stays_unread_and_joins_no_lines() -> None:
    reader, log = LogReader(1000), RankLog()
    halves = MEGATRON % (123456, b"1.0"), MEGATRON % (99, b"1.0")
    reader.offer(log, 1, b"x\n" + halves[0][:14])
    reader.offer(log, 1, b"y" * 2000)
    reader.offer(log, 1, b"z" * 2000)
    reader.offer(log, 1, halves[0][14:] + halves[1])
    reader.start()
    assert [seen.said.step for seen in awaited(log, 1)] == [99]
    assert log.unread_bytes == 4000
