"""Follows a text file that others append to."""

import os
from pathlib import Path

# Lines of this much are looked for at the end of what is there already.
_BEFORE_BYTES = 8192


class Tail:
    """lines: how many of the last lines that are there already are read first."""

    def __init__(self, path: Path, lines: int) -> None:
        self._path = path
        self._lines = lines
        self._file: tuple[int, int] | None = None
        self._at = 0
        self._rest = b""

    def read(self) -> str:
        """The whole lines that have come since the last call; "" while there is no such file."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return ""
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            first, identity = self._file is None, (status.st_dev, status.st_ino)
            if self._file != identity or status.st_size < self._at:
                self._file, self._rest = identity, b""
                self._at = max(0, status.st_size - _BEFORE_BYTES) if first else 0
            file.seek(self._at)
            data = file.read()
        self._at += len(data)
        whole, _, self._rest = (self._rest + data).rpartition(b"\n")
        lines = whole.decode("utf-8", "replace").splitlines()
        return "".join(f"{line}\n" for line in (lines[max(0, len(lines) - self._lines) :] if first else lines))
