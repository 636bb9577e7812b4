"""Real launchers with real ranks, driven by a small report server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hedgerow import wire
from tests.launcher.operator_double import OperatorDouble


class LauncherProcess:
    """A launcher started by a test. Output goes to files, so that it can be looked at while it runs."""

    def __init__(self, folder: Path, archive: Path, operator: OperatorDouble | None, **settings: str) -> None:
        self.folder = folder
        self.archive = archive
        self.settings = settings
        self.operator = operator
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *command: str, options: tuple[str, ...] = (), out: int | None = None) -> LauncherProcess:
        return self.run_words([sys.executable, str(self.archive), "run", *options, "--", *command], out=out)

    def run_words(self, words: list[str], out: int | None = None, stdin: int | None = None) -> LauncherProcess:
        """Start this command in the environment of a launcher."""
        variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("HEDGEROW_", "PYTHONPATH"))
        }
        variables["HEDGEROW_TMP"] = str(self.folder)
        if self.operator is not None:
            variables.update(
                HEDGEROW_REPORT_URL=self.operator.url,
                HEDGEROW_JOB_UID="uid-1",
                HEDGEROW_JOB_NAMESPACE="default",
                HEDGEROW_JOB_NAME="job",
                HEDGEROW_ADDRESS="127.0.0.1",
            )
        variables.update(self.settings)
        with self.path("out").open("ab") as out_file, self.path("err").open("ab") as err:
            self.process = subprocess.Popen(
                words,
                env=variables,
                stdin=stdin,
                stdout=out_file if out is None else out,
                stderr=err,
                cwd=self.folder,
            )
        return self

    def path(self, name: str) -> Path:
        return self.folder / name

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def out(self) -> str:
        return self.path("out").read_text()

    @property
    def err(self) -> str:
        return self.path("err").read_text()

    def wait(self, seconds: float = 120.0) -> int:
        assert self.process is not None
        return self.process.wait(seconds)

    def end(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


Launch = Callable[..., LauncherProcess]


def python(code: str) -> tuple[str, ...]:
    """A rank that runs ``code``."""
    return (sys.executable, "-c", code)


def begin(attempt: int = 1, **fields: Any) -> wire.Command:
    """The command that starts ``attempt``."""
    fields.setdefault("master_address", "127.0.0.1")
    fields.setdefault("master_port", 29400)
    return wire.Command(wire.COMMAND_START, attempt, nonce="secret", **fields)


def alive(pid: int) -> bool:
    """Whether a process lives and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] not in "ZX"


def wait_until(what: Callable[[], Any], seconds: float = 120.0) -> Any:
    """The first true value of ``what()``; fails after ``seconds``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s")
