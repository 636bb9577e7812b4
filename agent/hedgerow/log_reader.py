"""Reads what ranks print for progress, on a thread of its own, so that passing output on never waits for it."""

from __future__ import annotations

import collections
import queue
import threading
import time
from typing import Deque, Dict, Iterable, List, Optional, Set, Tuple

from hedgerow.log_progress import Seen
from hedgerow.logs.observation import Observation
from hedgerow.logs.reader import AUTO, AutoReader
from hedgerow.pattern_process import PatternProcess, PatternStream

# What may wait to be read; beyond, output is passed on unread. Ranks print far less than this in a second.
BACKLOG_BYTES = 4 << 20
# Reading takes at most a quarter of a core, which is the ranks' own, and leaves the interpreter to the pump.
_REST_PER_WORK = 3.0
_LONGEST_REST_SECONDS = 0.1
_AT_A_TIME = 65536
_MOST_SEEN = 4096


class RankLog:
    """What is read of one rank: each of its streams by itself, as their lines interleave.

    pattern: the process that reads by a user's own pattern, which is then the only format; None: all formats are known.
    """

    def __init__(self, pattern: Optional[PatternProcess] = None) -> None:
        self._pattern = pattern
        self._readers: Dict[int, AutoReader] = {}
        self._by_pattern: Dict[int, PatternStream] = {}
        self._seen: Deque[Seen] = collections.deque(maxlen=_MOST_SEEN)
        # The streams of which the newest output stayed unread, and how much in all.
        self.gaps: Set[int] = set()
        self.unread_bytes = 0
        self.unread_at: Optional[float] = None  # CLOCK_MONOTONIC, seconds
        # Pieces handed over and pieces dealt with: each is counted by one thread only.
        self.offered = 0
        self.dealt_with = 0
        # Somebody waits for the rest, because the rank has ended.
        self.hurry = False

    def leave_unread(self, amount: int) -> None:
        """So many bytes will not be read."""
        self.unread_bytes += amount
        self.unread_at = time.monotonic()

    def read(self, stream: int, time_ns: int, data: bytes) -> None:
        """Take in what was written to ``stream``. Called on the reading thread."""
        if self._pattern is not None:
            if stream not in self._by_pattern:
                self._by_pattern[stream] = self._pattern.stream()
            self._take_in(time_ns, self._by_pattern[stream].feed(data))
            return
        reader = self._readers.pop(stream, None) or AutoReader(AUTO)
        self._take_in(time_ns, reader.feed(data))
        # One that raised is not taken again.
        self._readers[stream] = reader

    @property
    def waiting(self) -> bool:
        """Whether something was handed over that is not read yet."""
        return self.dealt_with < self.offered

    @property
    def blind(self) -> bool:
        """Whether nothing is read any more, so that silence says nothing."""
        return self._pattern is not None and self._pattern.given_up

    def take(self) -> List[Seen]:
        """What was seen since the last call."""
        return [self._seen.popleft() for _ in range(len(self._seen))]

    def _take_in(self, time_ns: int, said: Iterable[Observation]) -> None:
        self._seen.extend(Seen(time_ns, observation) for observation in said)


class LogReader(threading.Thread):
    """Feeds the logs of all ranks here."""

    def __init__(self, backlog_bytes: int = BACKLOG_BYTES) -> None:
        super().__init__(name="log", daemon=True)
        self._limit = backlog_bytes
        self._chunks: "queue.SimpleQueue[Tuple[RankLog, int, int, bytes]]" = queue.SimpleQueue()
        # Each is written by one thread only.
        self._offered = 0
        self._read = 0

    def offer(self, log: RankLog, stream: int, data: bytes) -> None:
        """Hand ``data`` over, or note that it stays unread. Never waits."""
        if self._offered - self._read + len(data) > self._limit:
            log.leave_unread(len(data))
            if stream in log.gaps:
                return
            log.gaps.add(stream)
            # The rest of a line must not be joined with the end of another.
            data = b"\n"
        else:
            log.gaps.discard(stream)
        self._offered += len(data)
        log.offered += 1
        self._chunks.put((log, stream, time.monotonic_ns(), data))

    def run(self) -> None:
        """Read until the process ends."""
        while True:
            log, stream, time_ns, data = self._chunks.get()
            for start in range(0, len(data), _AT_A_TIME):
                began = time.monotonic()
                self._feed(log, stream, time_ns, data[start : start + _AT_A_TIME])
                if not log.hurry:
                    time.sleep(min(_LONGEST_REST_SECONDS, _REST_PER_WORK * (time.monotonic() - began)))
            self._read += len(data)
            log.dealt_with += 1

    def _feed(self, log: RankLog, stream: int, time_ns: int, piece: bytes) -> None:
        try:
            log.read(stream, time_ns, piece)
        except Exception:  # noqa: BLE001 (what breaks a reader costs those lines only)
            log.leave_unread(len(piece))
