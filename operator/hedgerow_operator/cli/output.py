"""Standard output and standard error that somebody may stop reading."""

import contextlib
import os
import select
import sys
import threading
import time
from collections import deque

# What waits for a reader at most; more is thrown away.
_MOST_WAITING_BYTES = 16 << 20
_CLOSING_SECONDS = 2.0
_OUT, _ERROR = 1, 2


def write(text: str) -> None:
    """Write at once. When the reader is gone (hedgerow local | head) the run goes on unseen."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def complain(sentence: str) -> None:
    """A line on standard error, if it is there."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"hedgerow: {sentence}\n")
        sys.stderr.flush()


class Output:
    """Writes from a thread of its own, so that nothing waits for a reader: one that stopped a terminal, one that reads
    slowly, or one that a broken connection has left behind.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._work, name="output", daemon=True).start()

    def write(self, text: str) -> None:
        """To standard output."""
        self._put(_OUT, text)

    def complain(self, sentence: str) -> None:
        """A line on standard error."""
        self._put(_ERROR, f"hedgerow: {sentence}\n")

    def close(self, seconds: float = _CLOSING_SECONDS) -> None:
        """Wait until everything is written, as long as it goes on."""
        with self._changed:
            left, since = self._bytes, time.monotonic()
            while self._bytes and time.monotonic() - since < seconds:
                self._changed.wait(seconds / 4)
                if self._bytes != left:
                    left, since = self._bytes, time.monotonic()

    def _put(self, descriptor: int, text: str) -> None:
        data = text.encode(sys.stdout.encoding or "utf-8", "replace")
        with self._changed:
            if self._bytes + len(data) <= _MOST_WAITING_BYTES:
                self._waiting.append((descriptor, data))
                self._bytes += len(data)
                self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                descriptor, data = self._waiting.popleft()
            written = _written(descriptor, data)
            with self._changed:
                self._bytes -= written
                if written < len(data):
                    self._waiting.appendleft((descriptor, data[written:]))
                self._changed.notify_all()


def _written(descriptor: int, data: bytes) -> int:
    """How much of it is done with: written, or without a reader for ever."""
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        select.select([], [descriptor], [], _CLOSING_SECONDS)
        return 0
    except OSError:
        return len(data)
