"""One daemon of the testbed; start, stop, kill, freeze and thaw are one call each."""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.testbed import processes
from tests.slurm.testbed.errors import TestbedError
from tests.slurm.testbed.namespace import Namespace, last_words
from tests.slurm.testbed.waiting import wait_for

# slurmd that is asked to stop while the controller is away may need more than 10 s.
STOP_SECONDS = 30


class Daemon:
    """A program that runs in the namespace; `log` gets its output."""

    def __init__(
        self, name: str, words: Sequence[str], environment: Mapping[str, str], log: Path, namespace: Namespace
    ) -> None:
        self.name, self.log = name, log
        self._words, self._environment, self._namespace = words, environment, namespace
        self._pid = 0

    @property
    def running(self) -> bool:
        """Whether it lives (a frozen one does)."""
        return self._pid != 0 and processes.alive(self._pid)

    @property
    def pid(self) -> int:
        """Its process id as seen from here."""
        self.check()
        return self._pid

    def check(self) -> None:
        """TestbedError with the end of its log when it does not run."""
        if not self.running:
            raise TestbedError(f"{self.name} does not run; the end of {self.log}: {last_words(self.log)}")

    def start(self) -> None:
        """Start it; nothing to do when it runs."""
        if not self.running:
            self._pid = self._namespace.spawn(self._words, self._environment, self.log)

    def stop(self) -> None:
        """Ask it to end (SIGTERM), kill it after STOP_SECONDS."""
        if self.running:
            self.thaw()
            os.kill(self._pid, signal.SIGTERM)
            try:
                self._wait()
            except TestbedError:
                self.kill()

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.running:
            os.kill(self._pid, signal.SIGKILL)
            self._wait()

    def freeze(self) -> None:
        """SIGSTOP: it lives, holds its connections, and does nothing."""
        os.kill(self.pid, signal.SIGSTOP)
        wait_for(f"{self.name} to freeze", lambda: processes.state(self._pid) == "T")

    def thaw(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def _wait(self) -> None:
        wait_for(f"{self.name} to end", lambda: not self.running, STOP_SECONDS)
