"""Changes in a checkpoint directory that are there wholly or not at all, whenever this process is killed."""

from __future__ import annotations

import contextlib
import os
import stat

_UNFINISHED = ".hedgerow-tmp-%d-%s"


def write_file(path: str, text: str) -> None:
    """Put a file with this text in the place of whatever is there, with the rights of the one before."""
    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, _UNFINISHED % (os.getpid(), name))
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            with contextlib.suppress(OSError):
                os.fchmod(file.fileno(), stat.S_IMODE(os.stat(path).st_mode))
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
    sync_folder(folder)


def write_link(path: str, target: str) -> None:
    """Put a symbolic link to ``target`` in the place of the one that is there."""
    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, _UNFINISHED % (os.getpid(), name))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(unfinished)
    os.symlink(target, unfinished)
    os.replace(unfinished, path)
    sync_folder(folder)


def sync_folder(folder: str) -> None:
    """Have the names in it written down, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
