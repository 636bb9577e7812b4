"""A program that runs in the background; start, stop, kill, freeze and thaw are one call each."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tests.cluster.testbed import processes
from tests.cluster.testbed.errors import ClusterError
from tests.cluster.testbed.waiting import wait_for

STOP_SECONDS = 20


class Host(Protocol):
    """Another machine to run a program on."""

    def entry(self) -> list[str]:
        """The words before a command that make it run there, as the only child of its launcher."""


class Daemon:
    """One program. `log` gets its output; it runs on `host`, else here."""

    def __init__(self, name: str, command: Sequence[str | Path], log: Path, host: Host | None = None) -> None:
        self.name, self.log = name, log
        self._command = [str(part) for part in command]
        self._host = host
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether it lives (a frozen one does)."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id as seen from the control plane."""
        if self._process is None or not self.running:
            raise ClusterError(f"{self.name} does not run; its log is {self.log}.")
        if self._host is None:
            return self._process.pid
        return wait_for(f"{self.name} to start", lambda: processes.children(self._launcher()))[0]

    def start(self) -> None:
        """Start it; nothing to do when it runs."""
        if self.running:
            return
        entry = self._host.entry() if self._host else []
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [*entry, *self._command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self) -> None:
        """Ask it to end (SIGTERM), kill it after STOP_SECONDS."""
        if self.running:
            self.thaw()
            self._signal(signal.SIGTERM)
        self._collect(STOP_SECONDS)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.running:
            self._signal(signal.SIGKILL)
            os.kill(self._launcher(), signal.SIGCONT)
        self._collect(STOP_SECONDS)

    def freeze(self) -> None:
        """SIGSTOP: it lives, holds its connections, and does nothing."""
        self._signal(signal.SIGSTOP)
        wait_for(f"{self.name} to freeze", lambda: processes.state(self.pid) == "T")

    def thaw(self) -> None:
        """SIGCONT."""
        # nsenter stops itself when its child stops, so it is woken too.
        os.kill(self._launcher(), signal.SIGCONT)
        self._signal(signal.SIGCONT)

    def restart(self) -> None:
        """Stop it in order and start it again."""
        self.stop()
        self.start()

    def check(self) -> None:
        """ClusterError with the end of its log when it has ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            words = self.log.read_text(errors="replace").strip()[-400:]
            raise ClusterError(f"{self.name} ended by itself ({self._process.returncode}); the end of its log: {words}")

    def forget(self) -> None:
        """Collect a process that died with its node."""
        self._collect(STOP_SECONDS)

    def _launcher(self) -> int:
        assert self._process is not None
        return self._process.pid

    def _signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def _collect(self, seconds: float) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None
