"""Answers that wait for their time: one timer for however many, since there may be a hundred thousand."""

import asyncio
import heapq
from collections.abc import Callable
from typing import Any

from hedgerow.wire import Answer, Report

# Answers that are due together go out in groups; what came in meanwhile is read in between.
_AT_ONCE = 100
_SHORTEST_WAIT_SECONDS = 0.005


class Held:
    """One launcher's report that has no answer yet. reply is called once, or never when the launcher has left."""

    __slots__ = ("due", "place", "reply", "report")

    def __init__(self, report: Report, reply: Callable[[Answer], None], due: float) -> None:
        self.report: Report | None = report
        self.reply = reply
        self.due = due
        self.place = (report.placement, report.worker)

    @property
    def open(self) -> bool:
        """Whether there is still somebody to answer."""
        return self.report is not None

    def close(self) -> None:
        """Nobody waits any more; the report is let go."""
        self.report = None

    def __lt__(self, other: "Held") -> bool:
        return self.due < other.due


class Waiting:
    """Calls ``on_due`` with each of the held reports when its time has come. clock: seconds; needs a running loop."""

    def __init__(self, clock: Callable[[], float], on_due: Callable[[Held], None]) -> None:
        self._clock = clock
        self._on_due = on_due
        self._heap: list[Held] = []
        self._timer: asyncio.Handle | None = None
        self._at = float("inf")

    def add(self, held: Held) -> None:
        """From now on."""
        heapq.heappush(self._heap, held)
        if held.due < self._at:
            self._set(held.due)

    def _set(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._at = at
        wait = max(_SHORTEST_WAIT_SECONDS, at - self._clock())
        self._timer = asyncio.get_running_loop().call_later(wait, self._tick)

    def _tick(self) -> None:
        self._timer, self._at = None, float("inf")
        now, answered = self._clock(), 0
        while self._heap and (not self._heap[0].open or self._heap[0].due <= now) and answered < _AT_ONCE:
            held = heapq.heappop(self._heap)
            if held.open:
                answered += 1
                self._on_due(held)
        if self._heap:
            self._set(self._heap[0].due)

    def __len__(self) -> int:
        return len(self._heap)


def future_of(loop: asyncio.AbstractEventLoop) -> tuple["asyncio.Future[Any]", Callable[[Any], None]]:
    """A future, and what sets its result unless nobody waits for it any more."""
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any) -> None:
        if not future.done():
            future.set_result(result)

    return future, settle
