"""Opens files that others can replace: only regular ones, without ever waiting, and in bounded pieces."""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import Optional

# The largest piece that is ever read at once, whatever a file says about its parts.
MOST_AT_ONCE = 32 << 20


class RegularFile(io.BufferedReader):
    """A regular file, open for reading. ``size`` is its length when it was opened."""

    def __init__(self, raw: io.FileIO, size: int) -> None:
        super().__init__(raw)
        self.size = size

    def read(self, size: Optional[int] = -1) -> bytes:
        """As of any file, but OSError when that would be more than ``MOST_AT_ONCE``."""
        if size is None or size < 0:
            size = max(0, self.size - self.tell())
        if size > MOST_AT_ONCE:
            raise OSError(errno.EFBIG, "more than %d MiB would have to be read at once" % (MOST_AT_ONCE >> 20))
        return super().read(size)


def open_raw(path: str, flags: int = os.O_RDONLY) -> io.FileIO:
    """The file without a buffer; OSError for a pipe, a device, a socket, a folder. flags: of ``os.open``; with
    O_NOFOLLOW for a link too.
    """
    # A device is not even opened, as that alone may have an effect; what is there a moment later is looked at again.
    _refuse_others(os.lstat(path) if flags & os.O_NOFOLLOW else os.stat(path))
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _refuse_others(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return io.FileIO(descriptor, "r+" if flags & os.O_RDWR else "r")


def open_regular(path: str) -> RegularFile:
    """The file for reading in bounded pieces; OSError as of ``open_raw``."""
    raw = open_raw(path)
    return RegularFile(raw, os.fstat(raw.fileno()).st_size)


def _refuse_others(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
