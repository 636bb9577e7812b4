"""A user's log pattern may take for ever: it costs its own lines, and nothing waits for it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hedgerow
from hedgerow import pattern_process
from hedgerow.log_reader import RankLog
from hedgerow.pattern_process import STRIKES, PatternProcess, Unread

ARCHIVE = str(Path(hedgerow.__file__).parents[1])
ENDLESS = r"step (?P<step>\d+)(a+)+$"
EVIL = b"step 1" + b"a" * 60 + b"!\n"

Start = Callable[[str], PatternProcess]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[PatternProcess] = []

    def begin(pattern: str) -> PatternProcess:
        started.append(PatternProcess(pattern, ARCHIVE))
        return started[-1]

    yield begin
    for process in started:
        process.close()


def test_lines_are_read_with_their_groups_whatever_pieces_they_come_in(start: Start) -> None:
    stream = start(r"at (?P<step>\d+), loss (?P<loss>\S+)").stream()
    assert stream.feed(b"at 3, lo") == []
    said = stream.feed(b"ss 0.5\nnothing\nat 4, loss nan\nat 5")
    assert [(seen.step, seen.boundary, seen.values.get("loss")) for seen in said[:1]] == [(3, True, 0.5)]
    assert [seen.step for seen in said] == [3, 4]


def test_streams_do_not_mix(start: Start) -> None:
    process = start(r"at (?P<step>\d+)")
    one, other = process.stream(), process.stream()
    assert one.feed(b"at 1") == []
    assert [seen.step for seen in other.feed(b"at 2\n")] == [2]
    assert [seen.step for seen in one.feed(b"7\n")] == [17]


def test_a_line_that_would_take_for_ever_costs_itself_only(start: Start) -> None:
    process = start(ENDLESS)
    stream = process.stream()
    assert [seen.step for seen in stream.feed(b"step 1aa\n")] == [1]
    began = time.monotonic()
    with pytest.raises(Unread):
        stream.feed(EVIL + b"step 9")
    assert time.monotonic() - began < pattern_process.WAIT_SECONDS
    assert stream.feed(b"the rest of a line that nobody knows: step 3a") == []
    assert [seen.step for seen in stream.feed(b"a\nstep 2aa\n")] == [2]
    assert not process.given_up


def test_a_pattern_that_takes_too_long_again_and_again_is_given_up_with_one_line(
    start: Start, capfd: pytest.CaptureFixture[str]
) -> None:
    process = start(ENDLESS)
    log = RankLog(process)
    for _ in range(STRIKES):
        assert not log.blind
        with pytest.raises(Unread):
            log.read(1, 0, EVIL)
    assert log.blind
    assert process.pid is None
    began = time.monotonic()
    with pytest.raises(Unread):
        log.read(1, 0, b"step 2aa\n")
    assert time.monotonic() - began < pattern_process.WAIT_SECONDS
    assert process.pid is None, "it is not tried again"
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert "(a+)+$" in told


def test_a_process_that_is_stopped_is_not_waited_for(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_process, "WAIT_SECONDS", 3.0)
    process = start(r"at (?P<step>\d+)")
    stream = process.stream()
    while not stream.feed(b"at 1\n"):
        pass
    pid = process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(Unread):
        stream.feed(b"at 2\n")
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL


def test_a_process_of_a_launcher_that_is_gone_ends_by_itself(start: Start) -> None:
    process = start(r"at (?P<step>\d+)")
    process.stream().feed(b"at 1\n")
    pid = process.pid
    assert pid is not None
    held = process._process
    assert held is not None
    held.stdin.close()
    assert os.waitpid(pid, 0)[1] == 0
    held.stdin = open(os.devnull, "wb", buffering=0)  # noqa: SIM115 (closed with the process)
