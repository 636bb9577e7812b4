"""Stack samples of a rank: ask for one by a signal, collect it at the next tick, and tell how long it has not changed.

The injected code registered ``faulthandler`` on that signal with a file, so that the stacks of all threads are
written by C code in the signal handler, also while the interpreter lock is held.
"""

from __future__ import annotations

import os
import re
from typing import List, Optional

from hedgerow import kernel
from hedgerow.regular_file import open_raw

# A real-time signal: training scripts, Lightning and profilers use USR1 and USR2. The default action would end the
# process, so it is sent only to one that handles it. The number is fixed because SIGRTMIN differs between C libraries.
STACKS_SIGNAL = 43
# A report holds those of every rank here, and the operator takes a report of 1 MiB at most.
MAX_BYTES = 3072
# The file is the rank's, which can give it any length; stacks of all threads are far shorter.
TAIL_BYTES = 1 << 20

_BLOCK = re.compile(r"^(?:Current thread|Thread|Stack)\b.*$", re.MULTILINE)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def shorten(text: str) -> str:
    """A sample that is too long, cut to the innermost frames of the main thread, which is written last."""
    if len(text) <= MAX_BYTES:
        return text
    blocks = list(_BLOCK.finditer(text))
    return text[blocks[-1].start() if blocks else 0 :][:MAX_BYTES]


class StackSampler:
    """The stack samples of one rank. ``path`` is the file that its faulthandler appends to."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._asked = False
        self._since: Optional[float] = None
        self._normal: Optional[str] = None
        self._samples = 0
        self.newest: Optional[str] = None
        self.bytes_seen = 0

    def collect(self, now: float) -> bool:
        """Take in what the last signal brought; True when there is a new sample."""
        if not self._asked:
            return False
        text = self._take()
        if text is None:
            return False
        self._asked = False
        normal = normalise(text)
        if normal != self._normal:
            self._normal, self._since, self._samples = normal, now, 0
        self._samples += 1
        self.newest = shorten(text)
        return True

    def ask(self, pid: int) -> None:
        """Send the signal, if the process handles it and the last one has been answered."""
        if self._asked and kernel.takes_signal(pid, STACKS_SIGNAL):
            self._asked = False
        if self._asked or not kernel.takes_signal(pid, STACKS_SIGNAL):
            return
        try:
            os.kill(pid, STACKS_SIGNAL)
            self._asked = True
        except OSError:
            pass

    @property
    def answered(self) -> bool:
        """Whether the last signal has brought a sample."""
        return self.newest is not None and not self._asked

    def unchanged_seconds(self, now: float) -> Optional[float]:
        """How long consecutive samples have been identical; None without two."""
        if self._since is None or self._samples < 2:
            return None
        return max(0.0, now - self._since)

    def forget(self) -> None:
        """The rank moves again. A sample that is under way is still collected, for its bytes."""
        self._since = self._normal = self.newest = None
        self._samples = 0

    def _take(self) -> Optional[str]:
        try:
            with open_raw(self._path, os.O_RDWR | os.O_NOFOLLOW) as file:
                size = file.seek(0, os.SEEK_END)
                if not size:
                    return None
                file.seek(max(0, size - TAIL_BYTES))
                data = file.read(TAIL_BYTES) or b""
                file.truncate(0)
        except OSError:
            return None
        self.bytes_seen += len(data)
        return data.replace(b"\0", b"").decode("utf-8", "replace").strip()


def normalise(text: str) -> str:
    """A form in which two samples of threads that did not move are equal, whatever thread took the signal."""
    blocks = [_ADDRESS.sub("", block).replace("Current thread", "Thread") for block in _blocks(text)]
    return "\n".join(sorted(" ".join(block.split()) for block in blocks))


def _blocks(text: str) -> List[str]:
    starts = [match.start() for match in _BLOCK.finditer(text)]
    if not starts:
        return [text.strip()]
    ends = starts[1:] + [len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends)]
