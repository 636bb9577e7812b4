"""Passes the ranks' output through, unchanged, on a thread of its own, and keeps each rank's last lines."""

from __future__ import annotations

import collections
import contextlib
import fcntl
import os
import select
import selectors
import threading
import time
from typing import Deque, Dict, List, Optional, Tuple, Union

from hedgerow.log_reader import LogReader, RankLog

TAIL_LINES = 20
TAIL_LINE_BYTES = 400
# Fewer and larger pieces cost less: for each the pump waits for the interpreter some times.
_CHUNK = 1 << 20
# Pipes hold as much, which is what a user may ask for (pipe-max-size in /proc/sys/fs). Those of all ranks together hold
# no more than this, an eighth of what a user may have before every new pipe becomes small (pipe-user-pages-soft).
_ALL_PIPES = 8 << 20
_LEAST_PIPE = 1 << 16
_SET_PIPE_SIZE = 1031  # fcntl.F_SETPIPE_SZ, as it is called from Python 3.10 on
# Longest wait for the rest of a line before what is there is passed on (progress bars print no line end).
_LINE_WAIT_SECONDS = 0.2
_HELD_BYTES = 65536
_SETTLE_LOOK_SECONDS = 0.005


class Tail:
    """The last lines of one rank, both streams together."""

    def __init__(self) -> None:
        self._lines: Deque[str] = collections.deque(maxlen=TAIL_LINES)
        self._parts: Dict[int, bytes] = {}

    def add(self, stream: int, data: bytes) -> None:
        """Take in what the rank wrote to ``stream`` (1 or 2)."""
        ends = data.rsplit(b"\n", TAIL_LINES + 1)
        if len(ends) > TAIL_LINES + 1:
            # What comes before these line ends is no line that is kept.
            data, self._parts[stream] = b"\n".join(ends[1:]), b""
        pieces = (self._parts.get(stream, b"") + data).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._parts[stream] = pieces.pop()[: TAIL_LINE_BYTES * 2]
        for piece in pieces[-TAIL_LINES:]:
            self._append(piece)

    def lines(self) -> List[str]:
        """Oldest first; a line that has not ended yet is the last."""
        unfinished = [self._text(part) for part in list(self._parts.values()) if part]
        return (list(self._lines) + unfinished)[-TAIL_LINES:]

    def _append(self, piece: bytes) -> None:
        if piece:
            self._lines.append(self._text(piece))

    @staticmethod
    def _text(piece: bytes) -> str:
        return piece[:TAIL_LINE_BYTES].decode("utf-8", "replace")


class RankOutput:
    """The two pipes of one rank. ``write_ends`` are for the child; close them once it has started.

    log: what is to be read of it for progress, None: nothing. ranks: how many share what pipes may hold. targets: the
    descriptors that its output and errors are passed on to.
    """

    def __init__(self, log: Optional[RankLog] = None, ranks: int = 1, targets: Tuple[int, int] = (1, 2)) -> None:
        self.tail = Tail()
        self.log = log
        self.targets = targets
        self.drained = threading.Event()
        self.open_streams = 2
        # The pump holds something that it has not handed on to the tail and the log, and written, yet.
        self.in_hand = False
        out, err = os.pipe(), os.pipe()
        _enlarge((out[0], err[0]), _ALL_PIPES // (2 * ranks))
        self.read_ends = (out[0], err[0])
        self.write_ends = (out[1], err[1])

    def close_write_ends(self) -> None:
        """The parent's copies; until they are closed no end of output is ever seen."""
        for end in self.write_ends:
            os.close(end)

    def settle(self, until: float) -> bool:
        """Wait (until then, CLOCK_MONOTONIC) for all that the rank has written so far to be passed on, and read for
        progress.

        A helper of the rank that lives on and holds the pipes open is not waited for.
        """
        if self.log is not None:
            self.log.hurry = True
        while not self._is_settled():
            if time.monotonic() >= until:
                return False
            self.drained.wait(_SETTLE_LOOK_SECONDS)
        return True

    def _is_settled(self) -> bool:
        if not self.drained.is_set():
            # In this order: the pump takes a piece in hand before it is gone from the pipe.
            poll = select.poll()
            for end in self.read_ends:
                poll.register(end, select.POLLIN)
            if any(event & select.POLLIN for _end, event in poll.poll(0)) or self.in_hand:
                return False
        return self.log is None or not self.log.waiting


class OutputPump(threading.Thread):
    """Reads every rank's pipes and writes to our own standard output and error, or to those of the rank's own task.

    Beside other ranks only whole lines are written, so that lines never mix. A slow reader of our output slows the
    ranks that print, as it would without us, and nothing else.
    """

    def __init__(self) -> None:
        super().__init__(name="output", daemon=True)
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._added: Deque[Tuple[RankOutput, bool]] = collections.deque()
        self._held: Dict[int, bytes] = {}
        self._reader = LogReader()

    def add(self, output: RankOutput, whole_lines: bool) -> None:
        """Begin to read the pipes of one more rank."""
        self._added.append((output, whole_lines))
        os.write(self._wake_write, b".")

    def run(self) -> None:
        """Pump until the process ends."""
        self._reader.start()
        while True:
            ready = self._selector.select(_LINE_WAIT_SECONDS if self._held else None)
            for key, _events in ready:
                if key.data is None:
                    self._register()
                else:
                    self._pump(key.fd, *key.data)
            if not ready:
                self._flush_held()

    def _register(self) -> None:
        os.read(self._wake_read, 64)
        while self._added:
            output, whole_lines = self._added.popleft()
            for stream, end in enumerate(output.read_ends, start=1):
                self._selector.register(end, selectors.EVENT_READ, (output, stream, whole_lines))

    def _pump(self, end: int, output: RankOutput, stream: int, whole_lines: bool) -> None:
        output.in_hand = True
        data = os.read(end, _CHUNK)
        if data:
            output.tail.add(stream, data)
            if output.log is not None:
                self._reader.offer(output.log, stream, data)
            self._pass_on(end, output.targets[stream - 1], data, whole_lines)
        output.in_hand = False
        if not data:
            self._close(end, output, stream)

    def _pass_on(self, end: int, target: int, data: bytes, whole_lines: bool) -> None:
        if not whole_lines:
            _write(target, data)
            return
        data = self._held.pop(end, b"") + data
        cut = data.rfind(b"\n") + 1
        cut = max(cut, data.rfind(b"\r", cut) + 1)
        if len(data) - cut > _HELD_BYTES:
            cut = len(data)
        _write(target, memoryview(data)[:cut])
        if cut < len(data):
            self._held[end] = data[cut:]

    def _close(self, end: int, output: RankOutput, stream: int) -> None:
        _write(output.targets[stream - 1], self._held.pop(end, b""))
        self._selector.unregister(end)
        os.close(end)
        output.open_streams -= 1
        if not output.open_streams:
            output.drained.set()

    def _flush_held(self) -> None:
        for end in list(self._held):
            output, stream, _whole_lines = self._selector.get_key(end).data
            _write(output.targets[stream - 1], self._held.pop(end))


def _enlarge(pipes: Tuple[int, ...], most: int) -> None:
    """Make pipes hold a piece, or as much as there is for each; what the kernel refuses stays as it is."""
    size = _CHUNK
    while size > most and size > _LEAST_PIPE:
        size //= 2
    for pipe in pipes:
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, _SET_PIPE_SIZE, size)


def _write(target: int, data: Union[bytes, memoryview]) -> None:
    """Write all of it; when the reader of our output is gone, it is lost and training goes on."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            _wait_writable(target)
        except OSError:
            return


def _wait_writable(target: int) -> None:
    """Wait until a non-blocking descriptor takes more."""
    with selectors.DefaultSelector() as selector:
        selector.register(target, selectors.EVENT_WRITE)
        selector.select(1.0)
