"""Believed reports that are to be read: at once in calm, and under load the newest of each sender before all else.

What came first of a sender is put behind as soon as its next one is there, and given up when a third comes: only the
newest counts. Between senders it goes by turns, so that nobody waits for ever.
"""

import asyncio
import time
from collections.abc import Callable, Hashable

from hedgerow_operator.server.asked import Asked
from hedgerow_operator.server.refusal import Refusal

# So long is read at a stretch before others get a turn: sockets, timers, decisions.
STRETCH_SECONDS = 0.01
# Of all bodies that wait: about ten of each of 10 000 launchers of 8 ranks. Senders that find it full come back.
MOST_BYTES = 256 * 1024 * 1024
_OVERTAKEN = "two newer reports of the same sender are here already"
_FULL = "more reports have come than can be read now; try again"


class Entry:
    """A body that waits. read: what is to be done with it. number: which of two of one ``maker`` is the newer."""

    __slots__ = ("asked", "body", "maker", "number", "read")

    def __init__(
        self, asked: Asked, body: bytes, read: Callable[[Asked, bytes], None], maker: str = "", number: int = 0
    ) -> None:
        self.asked = asked
        self.body = body
        self.read = read
        self.maker = maker
        self.number = number

    def newer_than(self, other: "Entry") -> bool:
        """Of the same maker by number, else by when it came."""
        return self.maker != other.maker or self.number > other.number


class Backlog:
    """Needs a running loop. clock: seconds, to end a stretch by."""

    def __init__(self, most_bytes: int = MOST_BYTES, clock: Callable[[], float] = time.perf_counter) -> None:
        self._most_bytes = most_bytes
        self._clock = clock
        self._newest: dict[Hashable, Entry] = {}
        self._overtaken: dict[Hashable, Entry] = {}
        self._bytes = 0
        self._turn: asyncio.Handle | None = None
        self.shed = 0

    def add(self, sender: Hashable, entry: Entry) -> None:
        """Read it when its turn comes. Raises Refusal when there is no room even after the oldest were given up."""
        before = self._newest.get(sender)
        if before is None:
            self._make_room(len(entry.body))
            self._newest[sender] = entry
        elif entry.newer_than(before):
            self._newest[sender] = entry  # at the place of the other: its turn is no later for it
            self._put_behind(sender, before)
        else:
            self._put_behind(sender, entry)
        self._bytes += len(entry.body)
        if self._turn is None:
            self._turn = asyncio.get_running_loop().call_soon(self._read)

    def _put_behind(self, sender: Hashable, entry: Entry) -> None:
        oldest = self._overtaken.get(sender)
        if oldest is not None and oldest.newer_than(entry):
            entry, oldest = oldest, entry
        self._overtaken[sender] = entry
        if oldest is not None:
            self._give_up(oldest)

    def _give_up(self, entry: Entry) -> None:
        self.shed += 1
        self._bytes -= len(entry.body)
        entry.asked.answer(Refusal(503, _OVERTAKEN, retry_after=1))

    def _make_room(self, size: int) -> None:
        while self._bytes + size > self._most_bytes and self._overtaken:
            self._give_up(self._overtaken.pop(next(iter(self._overtaken))))
        if self._bytes + size > self._most_bytes:
            raise Refusal(503, _FULL, retry_after=1)

    def _read(self) -> None:
        self._turn = None
        until = self._clock() + STRETCH_SECONDS
        try:
            for waiting in (self._newest, self._overtaken):
                while waiting:
                    entry = waiting.pop(next(iter(waiting)))
                    self._bytes -= len(entry.body)
                    entry.read(entry.asked, entry.body)
                    if self._clock() > until:
                        return
        finally:
            if self._newest or self._overtaken:
                self._turn = asyncio.get_running_loop().call_soon(self._read)

    def __len__(self) -> int:
        return len(self._newest) + len(self._overtaken)
