"""How processes end that somebody else has started, and who may say that it is a rank."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from hedgerow import kernel
from hedgerow.exit_watch import ExitWatch

Found = TypeVar("Found")


@pytest.fixture
def watch() -> Iterator[ExitWatch]:
    watching = ExitWatch()
    watching.start()
    yield watching
    watching.close()
    watching.join(60)
    assert not watching.is_alive()


def until(look: Callable[[], Found]) -> Found:
    """The first true answer."""
    deadline = time.monotonic() + 60
    while not (found := look()):
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.01)
    return found


def started(code: str) -> tuple[subprocess.Popen[bytes], kernel.Process]:
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    process = kernel.process(child.pid)
    assert process is not None
    return child, process


ENDS = {"by itself": ("import sys; sys.stdin.read(); sys.exit(3)", 3 << 8),
        "by a signal": ("import sys, os; sys.stdin.read(); os.kill(os.getpid(), 9)", int(signal.SIGKILL))}  # fmt: skip


@pytest.mark.parametrize(("code", "status"), ENDS.values(), ids=ENDS.keys())
def test_an_end_is_read_before_the_parent_has_asked(watch: ExitWatch, code: str, status: int) -> None:
    child, process = started(code)
    watch.add(process)
    assert watch.ended(process) is None
    assert child.stdin is not None
    child.stdin.close()
    assert until(lambda: watch.ended(process)).status == status  # type: ignore[union-attr]
    child.wait()


def test_what_is_added_twice_is_looked_at_once_since_its_parent_may_come_between(
    watch: ExitWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    look = kernel.exit_status

    def counted(target: kernel.Process) -> int | None:
        seen.append(target.pid)
        return look(target)

    monkeypatch.setattr(kernel, "exit_status", counted)
    children = [started("import sys; sys.stdin.read()") for _ in range(2)]
    (twice, process), (_other, last) = children
    for target in (process, process, last):
        watch.add(target)
    for child, target in children:
        assert child.stdin is not None
        child.stdin.close()
        until(lambda target=target: watch.ended(target))  # type: ignore[misc]
        child.wait()
    assert seen == [twice.pid, last.pid]


def test_a_process_that_announces_itself_is_watched(watch: ExitWatch) -> None:
    child, process = started("import sys; sys.stdin.read()")
    os.write(watch.announcements, b"5 %d\n" % child.pid)
    assert until(watch.announced) == [(5, process)]
    child.kill()
    assert until(lambda: watch.ended(process))
    child.communicate()
    assert watch.announced() == []


@pytest.mark.parametrize(
    "line", [b"x y\n", b"5\n", b"5 999999999999\n", b"\xff\n", b"5 0\n", b"5 1\n", b"-1 2\n", b"5 6 7\n"]
)
def test_a_line_that_announces_nobody_is_passed_over(watch: ExitWatch, line: bytes) -> None:
    child, process = started("import sys; sys.stdin.read()")
    os.write(watch.announcements, line + b"1 %d\n" % child.pid)
    assert until(watch.announced) == [(1, process)]
    child.kill()
    child.communicate()
