"""The work queue: each key once, by one worker at a time, when it is due, and again after an error."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from hedgerow_operator.reconcile.ports import JobKey
from hedgerow_operator.reconcile.queue import WorkQueue

A, B = JobKey("ml", "a"), JobKey("ml", "b")
PATIENCE_SECONDS = 60.0
Handler = Callable[[JobKey], Awaitable[float | None]]


class Log:
    """A handler that notes what it is given, and waits while told to."""

    def __init__(self) -> None:
        self.seen: list[JobKey] = []
        self.running: list[JobKey] = []
        self.most = 0
        self.open = asyncio.Event()
        self.open.set()
        self.answers: list[float | Exception | None] = []
        self.changed = asyncio.Condition()

    async def __call__(self, key: JobKey) -> float | None:
        self.running.append(key)
        self.most = max(self.most, self.running.count(key))
        await self._note(key)
        await self.open.wait()
        self.running.remove(key)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _note(self, key: JobKey) -> None:
        async with self.changed:
            self.seen.append(key)
            self.changed.notify_all()

    async def until(self, amount: int) -> None:
        """Wait until so many keys were seen."""
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(lambda: len(self.seen) >= amount), PATIENCE_SECONDS)


@contextlib.asynccontextmanager
async def working(queue: WorkQueue) -> AsyncIterator[None]:
    """The queue at work."""
    task = asyncio.create_task(queue.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def settle() -> None:
    """Let everything that is ready run."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_key_that_is_added_many_times_before_it_is_looked_at_is_looked_at_once() -> None:
    log = Log()
    queue = WorkQueue(log)
    for _ in range(5):
        queue.add(A)
    async with working(queue):
        await log.until(1)
        await settle()
    assert log.seen == [A]


async def test_a_key_that_is_added_while_it_is_worked_on_comes_again_but_never_twice_at_once() -> None:
    log = Log()
    log.open.clear()
    queue = WorkQueue(log, workers=4)
    async with working(queue):
        queue.add(A)
        await log.until(1)
        for _ in range(3):
            queue.add(A)
        await settle()
        assert log.seen == [A]
        log.open.set()
        await log.until(2)
        await settle()
    assert (log.seen, log.most) == ([A, A], 1)


async def test_other_keys_do_not_wait_for_a_slow_one() -> None:
    log = Log()
    log.open.clear()
    queue = WorkQueue(log, workers=2)
    async with working(queue):
        queue.add(A)
        queue.add(B)
        await log.until(2)
    assert set(log.seen) == {A, B}


async def test_a_key_comes_again_when_its_handler_asked_for_it() -> None:
    log = Log()
    log.answers = [0.01, None]
    queue = WorkQueue(log)
    async with working(queue):
        queue.add(A)
        await log.until(2)
        await settle()
    assert log.seen == [A, A]


async def test_of_two_delays_the_shorter_counts_and_an_urgent_look_replaces_both() -> None:
    log = Log()
    queue = WorkQueue(log)
    async with working(queue):
        queue.add(A, 60.0)
        queue.add(A, 0.01)
        await log.until(1)
        queue.add(A, 0.02)
        queue.add(A)
        await log.until(2)
        await asyncio.sleep(0.05)
    assert log.seen == [A, A]


async def test_an_error_is_told_and_tried_again_with_growing_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    add = WorkQueue.add

    def noting(self: WorkQueue, key: JobKey, after: float = 0.0) -> None:
        if after:
            pauses.append(after)
        add(self, key, min(after, 0.001))

    monkeypatch.setattr(WorkQueue, "add", noting)
    log, told = Log(), []
    log.answers = [ValueError("one"), ValueError("two"), ValueError("three"), None, ValueError("four"), None]
    queue = WorkQueue(log, on_error=lambda key, error: told.append((key, str(error))))
    async with working(queue):
        queue.add(A)
        await log.until(4)
        await settle()
        queue.add(A)
        await log.until(6)
    assert told == [(A, "one"), (A, "two"), (A, "three"), (A, "four")]
    assert pauses == [0.5, 1.0, 2.0, 0.5]


async def test_passes_that_wait_for_nothing_give_others_a_turn_in_between() -> None:
    turns: list[str] = []

    async def handle(key: JobKey) -> float | None:
        turns.append(key.name)
        return None

    async def other() -> None:
        while len(turns) < 20:
            turns.append("another's")
            await asyncio.sleep(0)

    queue = WorkQueue(handle, workers=1)
    for number in range(8):
        queue.add(JobKey("ml", str(number)))
    async with working(queue):
        await asyncio.wait_for(other(), PATIENCE_SECONDS)
    passes = [place for place, name in enumerate(turns) if name != "another's"]
    assert len(passes) == 8
    assert all(after - before > 1 for before, after in itertools.pairwise(passes))
