"""A rank's end is told once its last output is read, and no later than that can be known."""

from __future__ import annotations

import os
import threading
import time

import pytest

from hedgerow import wire
from hedgerow.log_reader import RankLog
from hedgerow.output import OutputPump, RankOutput

LINE = " iteration %8d/   10000 | elapsed time per iteration (ms): 1.0 | lm loss: 3.0 |\n"
DEADLINE_SECONDS = 60.0


class SlowLog(RankLog):
    """A log whose reading has not ended before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def read(self, stream: int, time_ns: int, data: bytes) -> None:
        self.go.wait(DEADLINE_SECONDS)
        super().read(stream, time_ns, data)


def started(log: RankLog) -> RankOutput:
    pump = OutputPump()
    pump.start()
    output = RankOutput(log)
    pump.add(output, whole_lines=False)
    return output


def soon() -> float:
    return time.monotonic() + DEADLINE_SECONDS


def test_all_lines_are_read_once_it_has_settled(capfd: pytest.CaptureFixture[str]) -> None:
    log = RankLog()
    output = started(log)
    lines = "".join(LINE % step for step in range(1, 1001))
    os.write(output.write_ends[0], lines.encode())
    output.close_write_ends()
    assert output.drained.wait(DEADLINE_SECONDS)
    assert output.settle(soon())
    assert max(seen.said.step or 0 for seen in log.take()) == 1000
    assert capfd.readouterr().out == lines, "output is passed on unchanged"


def test_what_is_not_read_yet_is_waited_for_until_the_deadline(capfd: pytest.CaptureFixture[str]) -> None:
    del capfd  # catches what is passed on
    log = SlowLog()
    output = started(log)
    os.write(output.write_ends[0], (LINE % 7).encode())
    output.close_write_ends()
    assert not output.settle(time.monotonic() + 0.2)
    log.go.set()
    assert output.settle(soon())


def test_a_helper_that_holds_the_pipe_open_is_not_waited_for(capfd: pytest.CaptureFixture[str]) -> None:
    del capfd
    output = started(RankLog())
    os.write(output.write_ends[1], (LINE % 7).encode())
    assert output.settle(soon())
    assert not output.drained.is_set()
    assert output.tail.lines() == [(LINE % 7).rstrip("\n")]
    output.close_write_ends()


def test_a_carriage_return_ends_a_line_of_progress(capfd: pytest.CaptureFixture[str]) -> None:
    log = RankLog()
    output = started(log)
    bar = "\r10%|#  | 1/9 [00:01<00:08,  1.00s/it]\r" + LINE.replace("\n", "\r") % 5
    os.write(output.write_ends[1], bar.encode())
    assert output.settle(soon())
    assert [seen.said.step for seen in log.take() if seen.said.phase in (None, wire.PHASE_STEP)][-1] == 5
    output.close_write_ends()
    assert output.drained.wait(DEADLINE_SECONDS)
    assert capfd.readouterr().err == bar
