"""`hedgerow local -- CMD` and its companions, as a person uses them: on a terminal, in a folder of its own."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from hedgerow_operator.adapters.local.lock import holder
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.processes import members
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.reconcile.ports import JobKey
from tests.local.forked import run_to_end
from tests.local.processes import stored_job

HEDGEROW = (sys.executable, "-m", "hedgerow_operator.cli")

SCRIPT = """
import os, pathlib, threading, time
import hedgerow
stuck = os.environ["RANK"] == os.environ.get("HANG_RANK") and os.environ["HEDGEROW_ATTEMPT"] == "1"
for step in range(1, int(os.environ["STEPS"]) + 1):
    if stuck and step == 12:
        threading.Event().wait()
    time.sleep(0.1)
    hedgerow.beat(step=step)
"""


class Terminal:
    """A program on a terminal of its own. shown: everything that it has written there."""

    def __init__(self, folder: Path, env: dict[str, str], words: tuple[str, ...], stdout: Path | None) -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:  # the child is the leader of a session whose terminal this is, as after a login
            os.chdir(folder)
            if stdout is not None:
                os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT), 1)
            os.execve(words[0], words, {**os.environ, **env})
        self.shown = ""

    def until(self, pattern: str, seconds: float = 120.0) -> None:
        """Read until it has written this."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, f"{pattern} was not shown:\n{self.shown}"
            self.read()

    def read(self) -> None:
        """Take what it has written, or wait a moment."""
        if select.select([self._master], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):
                self.shown += os.read(self._master, 65536).decode(errors="replace")

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self._master, keys)

    def hang_up(self) -> None:
        """The terminal is gone: the kernel sends SIGHUP, and whatever is written there fails."""
        os.close(self._master)
        self._master = -1

    def wait(self, seconds: float = 120.0) -> int:
        """The exit code."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < deadline, f"it does not end:\n{self.shown}"
            if self._master >= 0:
                self.read()
            else:
                time.sleep(0.05)

    def close(self) -> None:
        """End it, whatever it does."""
        if self._master >= 0:
            os.close(self._master)
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


class OneBox:
    """A folder with a training script, and everything that was started in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = StatePaths(folder / ".hedgerow")
        self._terminals: list[Terminal] = []
        self._env: dict[str, str] = {}
        (folder / "train.py").write_text(SCRIPT)

    def set(self, **env: str) -> None:
        """Variables for everything that is started from now on."""
        self._env.update(env)

    def terminal(self, *words: str, stdout: Path | None = None) -> Terminal:
        """``hedgerow WORDS`` on a terminal; stdout: a file that its standard output goes to instead."""
        terminal = Terminal(self.folder, self._env, (*HEDGEROW, *words), stdout)
        self._terminals.append(terminal)
        return terminal

    def run(self, *words: str, seconds: float = 150.0) -> subprocess.CompletedProcess[str]:
        """``hedgerow WORDS`` without a terminal, to its end."""
        code, output = run_to_end(*words, folder=self.folder, env={**os.environ, **self._env}, seconds=seconds)
        return subprocess.CompletedProcess(words, code, output)

    def said(self, *words: str) -> str:
        """What ``hedgerow WORDS`` prints; it must exit with 0."""
        done = self.run(*words)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def job(self, name: str = "train") -> TrainingJob:
        """The job as it is stored."""
        job = stored_job(self.paths.object(JobKey("default", name)))
        assert job is not None, f"there is no job {name}"
        return job

    def ranks(self, name: str = "train") -> list[int]:
        """Pids of its live ranks."""
        return [member.identity.pid for member in members(self.job(name).metadata.uid) if member.is_rank]

    def supervisor(self) -> int | None:
        """Who looks after the jobs."""
        return holder(self.paths)

    def log(self) -> str:
        """What was told in the background."""
        return self.paths.news.read_text() if self.paths.news.exists() else ""

    def until(self, happens: Callable[[], bool], seconds: float = 120.0) -> None:
        """Wait for something with a deadline."""
        deadline = time.monotonic() + seconds
        while not happens():
            assert time.monotonic() < deadline, f"it did not happen in time:\n{self.log()}"
            time.sleep(0.1)

    def clean(self) -> None:
        """End everything that this test started."""
        supervisor = self.supervisor()
        if supervisor:
            os.kill(supervisor, signal.SIGKILL)
        for terminal in self._terminals:
            terminal.close()
        for path in self.paths.objects():
            for member in members(_uid(path)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(member.identity.pid, signal.SIGKILL)


def _uid(path: Path) -> str:
    job = stored_job(path)
    return job.metadata.uid if job else ""
