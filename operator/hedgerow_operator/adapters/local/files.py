"""Files that are there whole or not at all, whenever the machine stops; what others put in their place is refused."""

import os
from pathlib import Path

from hedgerow.regular_file import open_regular
from hedgerow_operator.core.last_words import TAIL_BYTES

# What a small file of ours holds at most.
_WORD_BYTES = 4096


def write_whole(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace ``path`` by ``data``: written beside it, synced, renamed, and the directory synced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    _sync_directory(path.parent)


def read_bytes(path: Path) -> bytes | None:
    """What a regular file holds, None when there is none. Raises OSError, also for a pipe or a device."""
    try:
        with open_regular(str(path)) as file:
            return file.read()
    except FileNotFoundError:
        return None


def read_text(path: Path) -> str | None:
    """The text of a file, None when there is none. Raises OSError, UnicodeDecodeError."""
    data = read_bytes(path)
    return None if data is None else data.decode("utf-8")


def read_word(path: Path) -> str:
    """The one word in a small file that anything may have happened to; empty when it holds none."""
    try:
        with open_regular(str(path)) as file:
            text = file.read(_WORD_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return text if text.isascii() and text.isprintable() and " " not in text else ""


def read_end(path: Path) -> str:
    """The last TAIL_BYTES of a file that anything may have happened to, as text; empty when there is none."""
    try:
        with open_regular(str(path)) as file:
            file.seek(max(0, file.size - TAIL_BYTES))
            return file.read(TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
