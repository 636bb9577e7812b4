"""The user's script as a process of its own session, so that all of it can be ended together."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

_CANNOT_RUN, _NOT_FOUND, _SIGNALLED = 126, 127, 128
_LINE_BYTES = 4096


class UserScript:
    """code: once it has ended."""

    def __init__(self, path: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self._words = command_of(path, arguments)
        self._environment = dict(environment)
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> int:
        """Its exit code, as a shell tells it."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._words, env=self._environment, start_new_session=True
            )
        except OSError as error:
            return cannot_run(self._words, error)
        code = await self._process.wait()
        return _SIGNALLED - code if code < 0 else code

    def send(self, number: signal.Signals) -> None:
        """The script itself, as Slurm signals it."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)

    def send_all(self, number: signal.Signals) -> None:
        """It and what it has started, save what has left its session."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)


def command_of(path: Path, arguments: Sequence[str]) -> list[str]:
    """The words that run a script: as its first line says, since the file system may not be one to run files from."""
    with path.open("rb") as file:
        first = file.readline(_LINE_BYTES)
    words = first[2:].decode("utf-8", "surrogateescape").strip().split(None, 1) if first.startswith(b"#!") else []
    return [*words, str(path), *arguments]


def cannot_run(words: Sequence[str], error: OSError) -> int:
    """The exit code, as a shell has it; a person is told."""
    os.write(2, f"hedgerow: {words[0]} cannot be run: {error.strerror}\n".encode())
    return _NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN
