"""Reads output by a user's own pattern in a process beside the launcher, which nothing in it can hold up."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from typing import Any, List, Optional

from hedgerow import kernel, machine
from hedgerow.log import say
from hedgerow.logs.observation import Observation
from hedgerow.pattern_worker import HEADER, LIMIT_SECONDS

# A piece that is not read within this, on a machine that is busy with other things, counts as too costly too.
WAIT_SECONDS = 10.0
# So often may the pattern be too costly before it is given up.
STRIKES = 3
_MAIN = "import sys; sys.path.insert(0, sys.argv[1]); from hedgerow import pattern_worker; pattern_worker.main()"
_CHUNK = 65536
_HELD_BYTES = 16 << 20


class Unread(Exception):
    """The output was not read: the pattern took too long for it, or has been given up."""


class PatternProcess:
    """One process for the output of all ranks here. Only the thread that reads output calls it, but for ``pid``.

    archive: this package, as a zip file or the folder that it lies in.
    """

    def __init__(self, pattern: str, archive: str) -> None:
        self._pattern = pattern
        self._archive = archive
        self._process: Optional[Any] = None
        self._strikes = 0
        self._slots = 0
        # How often a process was started: a new one knows nothing of the lines that the last one had begun.
        self.generation = 0

    @property
    def given_up(self) -> bool:
        """Whether nothing is read by the pattern any more."""
        return self._strikes >= STRIKES

    @property
    def pid(self) -> Optional[int]:
        """The process, None while there is none: it is no rank's."""
        process = self._process
        return None if process is None else int(process.pid)

    def stream(self) -> "PatternStream":
        """A reader for one more stream of output."""
        self._slots += 1
        return PatternStream(self, self._slots)

    def read(self, slot: int, data: bytes) -> List[Observation]:
        """What the lines of stream ``slot`` say that ``data`` completes. Raises Unread."""
        if self.given_up:
            raise Unread
        try:
            process = self._process or self._start()
            answer = _exchange(process, HEADER.pack(slot, len(data)) + data, time.monotonic() + WAIT_SECONDS)
            return [Observation(*entry) for entry in json.loads(answer.decode())]
        except (OSError, ValueError, TypeError, EOFError) as error:
            self._strike(error)
            raise Unread from error

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.stdin.close()
        process.stdout.close()
        # The main thread reaps every child: only one that is still ours has this number for sure.
        entry = kernel.process(process.pid)
        if entry is not None and entry.parent == os.getpid():
            os.kill(process.pid, signal.SIGKILL)
        process.returncode = 0

    def _start(self) -> Any:
        process = subprocess.Popen(
            machine.own_python() + ["-c", _MAIN, self._archive],
            # Without our own variables: whoever looks for the processes of a job must not take it for one.
            env={name: value for name, value in os.environ.items() if not name.startswith("HEDGEROW_")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        self._process = process
        self.generation += 1
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        pattern = self._pattern.encode("utf-8", "surrogatepass")
        _write(process, HEADER.pack(0, len(pattern)) + pattern, time.monotonic() + WAIT_SECONDS)
        return process

    def _strike(self, error: Exception) -> None:
        never_ran = self._process is None
        self._strikes += 1
        self.close()
        if self.given_up and never_ran:
            say("the process that reads output by the log pattern cannot be started: %s" % error)
        elif self.given_up:
            say(
                "the log pattern %r took more than %g s of processor time for a piece of output, %d times; no line is "
                "read by it any more, and silence counts for nothing; write one without repeats inside repeats"
                % (self._pattern, LIMIT_SECONDS, STRIKES)
            )


class PatternStream:
    """One stream of output, read by the pattern."""

    def __init__(self, process: PatternProcess, slot: int) -> None:
        self._process = process
        self._slot = slot
        self._generation = 0
        self._in_line = False

    def feed(self, data: bytes) -> List[Observation]:
        """What the lines say that ``data`` completes. Raises Unread."""
        begun_elsewhere = self._in_line and (self._process.pid is None or self._generation != self._process.generation)
        if begun_elsewhere:
            # The process that knew how this line began is gone.
            ends = [at for at in (data.find(b"\n"), data.find(b"\r")) if at >= 0]
            data = data[min(ends) + 1 :] if ends else b""
            if not data:
                return []
        self._in_line = not data.endswith((b"\n", b"\r"))
        try:
            return self._process.read(self._slot, data)
        finally:
            self._generation = self._process.generation


def _exchange(process: Any, data: bytes, until: float) -> bytes:
    """The line that answers ``data``. Raises EOFError when the process has ended, TimeoutError."""
    _write(process, data, until)
    answer = b""
    while not answer.endswith(b"\n"):
        _wait(process.stdout.fileno(), select.POLLIN, until)
        piece = os.read(process.stdout.fileno(), _CHUNK)
        if not piece or len(answer) > _HELD_BYTES:
            raise EOFError
        answer += piece
    return answer


def _write(process: Any, data: bytes, until: float) -> None:
    view = memoryview(data)
    while view:
        _wait(process.stdin.fileno(), select.POLLOUT, until)
        view = view[os.write(process.stdin.fileno(), view) :]


def _wait(descriptor: int, event: int, until: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
        raise TimeoutError
