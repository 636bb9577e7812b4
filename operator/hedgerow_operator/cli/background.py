"""A run that its terminal does not hold: begun without one, or left by it."""

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click

_READY = "\n"
STREAMS = (0, 1, 2)
_LOG_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK


def in_background(work: Callable[[Callable[[], None]], int]) -> int:
    """Do ``work`` in a process without a terminal; its pid, once work has called what it is given. To be called
    before there are threads.

    Raises click.ClickException with the sentence of the one that ended work before that.
    """
    reads, writes = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reads)
        sys.exit(_worked(work, writes))
    os.close(writes)
    with os.fdopen(reads, "rb") as answer:
        said = answer.read().decode()
    if said != _READY:
        _, status = os.waitpid(pid, 0)
        raise click.ClickException(said or f"the run ended at once (exit code {os.waitstatus_to_exitcode(status)})")
    return pid


def _worked(work: Callable[[Callable[[], None]], int], writes: int) -> int:
    os.setsid()
    to_file(Path(os.devnull), STREAMS)

    with os.fdopen(writes, "w") as answer:

        def ready() -> None:
            with contextlib.suppress(OSError):  # whoever asked is gone
                answer.write(_READY)
                answer.close()

        try:
            return work(ready)
        except click.ClickException as error:
            if not answer.closed:
                answer.write(error.format_message())
            return error.exit_code


def terminal_streams() -> tuple[int, ...]:
    """Those of the standard streams that are a terminal now; one that is gone can no longer be told from a file."""
    return tuple(stream for stream in STREAMS if os.isatty(stream))


def to_file(path: Path, streams: tuple[int, ...]) -> None:
    """From now on these streams read nothing, and append what is printed to a file (if it can be written)."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    try:
        target = os.open(path, _LOG_FLAGS, 0o644)
    except OSError:
        target = os.dup(nowhere)
    for stream in streams:
        os.dup2(target if stream else nowhere, stream)
    os.close(nowhere)
    os.close(target)


def append(path: Path, text: str) -> None:
    """Append to a file that may be deleted at any time; what cannot be written is not."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, _LOG_FLAGS | os.O_CLOEXEC, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
