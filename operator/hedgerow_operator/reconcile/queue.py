"""A work queue of job keys: each key is worked on by one worker at a time, as soon as it is due."""

import asyncio
from collections.abc import Awaitable, Callable

from hedgerow_operator.reconcile.ports import JobKey

FIRST_RETRY_SECONDS = 0.5
LAST_RETRY_SECONDS = 30.0

Handler = Callable[[JobKey], Awaitable[float | None]]
OnError = Callable[[JobKey, Exception], None]


class WorkQueue:
    """Deduplicating and delayed. The handler returns in how many seconds to look again (None: not by itself).

    A handler that raises is tried again with growing pauses; ``on_error`` hears of it.
    """

    def __init__(self, handler: Handler, workers: int = 4, on_error: OnError = lambda key, error: None) -> None:
        self._handler = handler
        self._workers = workers
        self._on_error = on_error
        self._ready: asyncio.Queue[JobKey] = asyncio.Queue()
        self._queued: set[JobKey] = set()
        self._active: set[JobKey] = set()
        self._again: set[JobKey] = set()
        self._timers: dict[JobKey, asyncio.TimerHandle] = {}
        self._failures: dict[JobKey, int] = {}

    def add(self, key: JobKey, after: float = 0.0) -> None:
        """Look at ``key`` in ``after`` seconds, or earlier if that was asked for already."""
        if after <= 0:
            self._push(key)
            return
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None:
            if timer.when() <= loop.time() + after:
                return
            timer.cancel()
        self._timers[key] = loop.call_later(after, self._push, key)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._work())

    def _push(self, key: JobKey) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if key in self._active:
            self._again.add(key)
        elif key not in self._queued:
            self._queued.add(key)
            self._ready.put_nowait(key)

    async def _work(self) -> None:
        while True:
            key = await self._ready.get()
            self._queued.discard(key)
            self._active.add(key)
            try:
                after = await self._attempt(key)
            finally:
                self._active.discard(key)
            if key in self._again:
                self._again.discard(key)
                self._push(key)
            elif after is not None:
                self.add(key, after)
            # A pass that had to wait for nothing gave nobody else a turn, and a hundred may be due at once.
            await asyncio.sleep(0)

    async def _attempt(self, key: JobKey) -> float | None:
        try:
            after = await self._handler(key)
        except Exception as error:  # noqa: BLE001  (one job's trouble must not end the others)
            failures = self._failures.get(key, 0)
            self._failures[key] = failures + 1
            self._on_error(key, error)
            return float(min(FIRST_RETRY_SECONDS * 2 ** min(failures, 10), LAST_RETRY_SECONDS))
        self._failures.pop(key, None)
        return after
