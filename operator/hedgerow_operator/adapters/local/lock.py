"""One controller a state directory."""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.paths import StatePaths

# The kernel frees the lock of a killed controller when it has torn the process down, a moment after the kill.
_PATIENCE_SECONDS = 1.0


class StateLock:
    """The lock of this process on a state directory.

    A child that is forked and has not called exec yet holds the lock too: its environment cannot be seen yet, so
    nobody may go by what is seen.
    """

    def __init__(self, paths: StatePaths) -> None:
        self._paths = paths
        self._descriptor = _taken(paths, _PATIENCE_SECONDS)

    @property
    def is_lost(self) -> bool:
        """Whether the file was deleted or replaced, so that another could hold the directory beside us."""
        try:
            there = os.stat(self._paths.lock, follow_symlinks=False)
        except OSError:
            return True
        return not os.path.samestat(there, os.fstat(self._descriptor))

    def retake(self) -> None:
        """Hold the file that is there now, which is made when it is not. Raises StateError while another holds it."""
        descriptor = _taken(self._paths, 0.0)
        os.close(self._descriptor)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go of it."""
        os.close(self._descriptor)


@contextmanager
def locked(paths: StatePaths) -> Iterator[StateLock]:
    """Holds the state directory, which is made when it is not there. Raises StateError while another holds it."""
    lock = StateLock(paths)
    try:
        yield lock
    finally:
        lock.release()


def _taken(paths: StatePaths, patience: float) -> int:
    descriptor = _open(paths)
    try:
        _take(descriptor, paths, patience)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        os.close(descriptor)
        raise _unusable(paths, error.strerror) from None
    except StateError:
        os.close(descriptor)
        raise
    return descriptor


def _open(paths: StatePaths) -> int:
    """The file is ours to write: a link or a pipe in its place is somebody else's."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        paths.root.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            _refuse_others(paths, os.lstat(paths.lock))
        descriptor = os.open(paths.lock, flags, 0o644)
    except OSError as error:
        raise _unusable(paths, error.strerror) from None
    try:
        _refuse_others(paths, os.fstat(descriptor))
    except StateError:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_others(paths: StatePaths, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise StateError(
            f"{paths.lock} is no plain file, and hedgerow writes nothing through a link, a pipe or a device; "
            "move it away, or give another --state-dir"
        )


def _unusable(paths: StatePaths, why: str | None) -> StateError:
    return StateError(
        f"the state directory {paths.root} cannot be used ({why}); give one that you may write to with --state-dir"
    )


def _take(descriptor: int, paths: StatePaths, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                break
            time.sleep(0.05)
    raise StateError(
        f"another hedgerow (process {_named(descriptor) or 'unknown'}) runs the jobs in {paths.root}; hedgerow attach "
        "shows them and hedgerow stop stops them, or give this one another --state-dir"
    )


def holder(paths: StatePaths) -> int | None:
    """Process that holds the state directory; 0: one whose number is not known, None: there is none."""
    try:
        descriptor = os.open(paths.lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        name = _named(descriptor)
        return int(name) if name.isdecimal() else 0
    finally:
        os.close(descriptor)
    return None


def _named(descriptor: int) -> str:
    """The process that the file names."""
    return os.pread(descriptor, 32, 0).decode(errors="replace").strip()
