"""Runs one command: without a shell, bounded in time and output, and never left behind."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from shutil import which

from msgspec import Struct

from hedgerow_operator.reconcile.ports import Unreachable

# Slurm's own patience is MessageTimeout, 10 s by default. A driver's call takes a minute at most; some ask thrice.
SECONDS = 19.0
# Nobody knows what became of a submission that was cut short, so it is given all of the minute.
SUBMISSION_SECONDS = 55.0
MOST_OUTPUT = 32 * 1024 * 1024
_CHUNK = 1 << 16
_MOST_COMPLAINT = 300
_END_SECONDS = 5.0
_PACKAGES = "install Slurm's client commands (Debian: slurm-client) or put their folder on PATH"


class Done(Struct, frozen=True):
    """How a command ended."""

    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        """What it printed, bytes that are no UTF-8 replaced."""
        return self.output.decode(errors="replace")


class TooMuch(Unreachable):
    """It printed more than was allowed."""


async def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: bytes = b"",
    directory: str = "/",
    seconds: float = SECONDS,
    most_output: int = MOST_OUTPUT,
) -> Done:
    """Run it to its end. Raises Unreachable when it is missing, or has not ended after ``seconds``; TooMuch."""
    program = which(words[0], path=environment.get("PATH"))
    if program is None:
        raise Unreachable(f"there is no command {words[0]} on this machine: {_PACKAGES}")
    try:
        process = await _started(program, words[1:], environment, directory)
    except (OSError, ValueError) as error:
        raise Unreachable(f"{words[0]} cannot be run: {error}") from None
    complaints: list[bytes] = []
    exchange = [
        asyncio.ensure_future(part)
        for part in (
            _read(process.stdout, most_output, []),
            _read(process.stderr, most_output, complaints),
            _feed(process, stdin),
        )
    ]
    try:
        async with asyncio.timeout(seconds):
            output, told, _ = await asyncio.gather(*exchange)
            return Done(await process.wait(), output, told.decode(errors="replace"))
    except TimeoutError:
        said = b"".join(complaints).decode(errors="replace").strip().rpartition("\n")[2][-_MOST_COMPLAINT:]
        raise Unreachable(f"{words[0]} had not ended after {seconds:.0f} s" + (f": {said}" if said else "")) from None
    finally:
        for part in exchange:
            part.cancel()
        await asyncio.wait(exchange)
        await _end(process)


async def _started(
    program: str, words: Sequence[str], environment: Mapping[str, str], directory: str
) -> asyncio.subprocess.Process:
    """The process, with pipes to it.

    Where asyncio is cancelled while it connects the pipes, it ends the process alone and then waits for ever for the
    pipes, which its children hold: so a cancelled start is let go on, and ended as every other.
    """
    start = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            program,
            *words,
            env=environment,
            cwd=directory,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(start)
    except asyncio.CancelledError:
        start.add_done_callback(_kill_started)  # also when we are cancelled once more
        await asyncio.wait([start])
        if not start.cancelled() and start.exception() is None:
            await _end(start.result())
        raise


def _kill_started(start: "asyncio.Task[asyncio.subprocess.Process]") -> None:
    if not start.cancelled() and start.exception() is None:
        _kill(start.result())


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _feed(process: asyncio.subprocess.Process, stdin: bytes) -> bytes:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(stdin)
        await process.stdin.drain()
    process.stdin.close()
    return b""


async def _read(stream: asyncio.StreamReader | None, most: int, parts: list[bytes]) -> bytes:
    """parts: gets what is read, as it comes."""
    assert stream is not None
    size = 0
    while chunk := await stream.read(_CHUNK):
        size += len(chunk)
        if size > most:
            raise TooMuch(f"a command of Slurm printed more than {most} bytes")
        parts.append(chunk)
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Nothing of it stays, also when we are cancelled."""
    if process.returncode is None:
        _kill(process)
        # asyncio sees the end of a process only once its pipes have been read to their ends.
        rest = asyncio.gather(_discard(process.stdout), _discard(process.stderr), process.wait())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(rest), _END_SECONDS)


async def _discard(stream: asyncio.StreamReader | None) -> None:
    assert stream is not None
    while await stream.read(_CHUNK):
        pass
