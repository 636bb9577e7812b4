"""`hedgerow` as a process of its own without its start: forked from one that has imported everything already.

A start of Python with all imports takes more of a processor than most tests' jobs. That a fresh one starts is shown by
every test on a terminal, and by the demo's.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

_PARENT = multiprocessing.get_context("forkserver")
_PARENT.set_forkserver_preload(
    [
        __name__,
        "hedgerow_operator.cli.local",
        "hedgerow_operator.cli.one_box",
        "hedgerow_operator.cli.session",
        "hedgerow_operator.cli.checkpoints",
    ]
)


class Forked:
    """``hedgerow WORDS``, and of ``subprocess.Popen`` what its tests use. stdout: what it prints, errors included."""

    def __init__(self, words: Sequence[str], folder: Path | None = None, env: dict[str, str] | None = None) -> None:
        reads, writes = os.pipe()
        self.stdout = os.fdopen(reads, "r")
        with Connection(writes, readable=False) as output:
            settings = (list(words), str(folder or Path.cwd()), dict(os.environ if env is None else env), output)
            self._process = _PARENT.Process(target=_run, args=settings)
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, minus the number of the signal that ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, at its end. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("hedgerow", timeout or 0.0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """What it has printed, at its end. Raises subprocess.TimeoutExpired."""
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.append(self.stdout.read()), daemon=True)
        reader.start()
        reader.join(timeout)
        if reader.is_alive():
            raise subprocess.TimeoutExpired("hedgerow", timeout or 0.0)
        self.stdout.close()
        self.wait(timeout)
        return said[0], None

    def send_signal(self, number: signal.Signals) -> None:
        """Signal it, unless it has ended."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        self.send_signal(signal.SIGKILL)


def run_to_end(
    *words: str, folder: Path | None = None, env: dict[str, str] | None = None, seconds: float = 150.0
) -> tuple[int, str]:
    """Run ``hedgerow WORDS`` to its end: exit code and what it printed."""
    process = Forked(words, folder, env)
    output, _ = process.communicate(seconds)
    return process.wait(), output


def _run(words: list[str], folder: str, env: dict[str, str], output: Connection) -> None:
    """In the process itself: as ``python -m hedgerow_operator.cli`` begins."""
    os.dup2(output.fileno(), 1)
    os.dup2(1, 2)
    output.close()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the one by which they were listed
            os.set_inheritable(int(name), int(name) <= 2)  # what it starts gets nothing of the one it is forked from
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["hedgerow", *words]
    from hedgerow_operator.cli.main import main

    main()
