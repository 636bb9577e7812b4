"""File locks, which the kernel gives back when their owner dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.testbed.progress import say


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; waits, and says so, while another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = try_lock(path)
    if descriptor is None:
        say(f"waiting for another process that makes {path.stem}")
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def try_lock(path: Path) -> int | None:
    """Take the lock file `path` and return its descriptor, to be closed by the caller; None when it is held."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
