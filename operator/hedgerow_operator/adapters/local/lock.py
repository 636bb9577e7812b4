"""One controller a state directory."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.paths import StatePaths

# The kernel frees the lock of a killed controller when it has torn the process down, a moment after the kill.
_PATIENCE_SECONDS = 1.0


@contextmanager
def locked(paths: StatePaths) -> Iterator[None]:
    """Holds the state directory, which is made when it is not there. Raises StateError while another holds it.

    A child that is forked and has not called exec yet holds the lock too: its environment cannot be seen yet, so
    nobody may go by what is seen.
    """
    descriptor = _open(paths)
    try:
        _take(descriptor, paths)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _open(paths: StatePaths) -> int:
    try:
        paths.root.mkdir(parents=True, exist_ok=True)
        return os.open(paths.lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StateError(
            f"the state directory {paths.root} cannot be used ({error.strerror}); "
            "give one that you may write to with --state-dir"
        ) from None


def _take(descriptor: int, paths: StatePaths) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() >= deadline:
                break
            time.sleep(0.05)
    holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
    raise StateError(
        f"another hedgerow (process {holder or 'unknown'}) runs the jobs in {paths.root}; "
        "stop it, or give this one another --state-dir"
    )
