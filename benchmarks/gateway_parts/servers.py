"""Processes of the benchmark: started, waited for, ended; and how much of a processor they took."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
_START_SECONDS = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """One that answers on ``port``."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process, self.port = process, port

    def cpu_seconds(self) -> float:
        """Of the process and its children, so far."""
        return sum(_cpu(one) for one in [self._process.pid, *_children(self._process.pid)])


@contextlib.contextmanager
def own(*arguments: str) -> Iterator[Server]:
    """A module of these parts, which prints its port."""
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    process = subprocess.Popen([sys.executable, "-m", *arguments], env=environment, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield Server(process, int(process.stdout.readline()))
    finally:
        _end(process)
        assert process.stdout is not None
        process.stdout.close()


@contextlib.contextmanager
def other(command: Sequence[str | Path], port: int) -> Iterator[Server]:
    """A program that listens on ``port`` after a while. Raises RuntimeError when it does not."""
    process = subprocess.Popen(list(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        until = time.monotonic() + _START_SECONDS
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{Path(command[0]).name} did not start")
            time.sleep(0.1)
        yield Server(process, port)
    finally:
        _end(process)


def free_port() -> int:
    """One that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
