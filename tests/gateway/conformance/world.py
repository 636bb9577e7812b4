"""The jobs of one imitated provider: how long they wait and run, how they end, and what was ever asked."""

import asyncio
import random
from collections import deque
from typing import Any

from aiohttp import web

from tests.gateway.conformance.faults import Fault

# From a cancel until the job has ended: GPUHedge saw RunPod need 0.06 s, Cerebrium 2 s.
_CANCEL_LAG = 0.3


class Shape:
    """Queue and run in seconds, drawn by a seed from the two modes of GPUHedge's rounds."""

    def __init__(self, seed: int, cold_share: float = 0.25) -> None:
        self._random, self._cold_share = random.Random(seed), cold_share

    def draw(self) -> tuple[float, float]:
        """Of the next job."""
        if self._random.random() < self._cold_share:
            return self._random.uniform(8.9, 27.6), self._random.uniform(90.0, 110.0)
        return self._random.uniform(1.1, 1.96), self._random.uniform(3.5, 5.0)


class Job:
    """Its state follows from its beginning and the time."""

    def __init__(self, world: "World", number: int, given: Any) -> None:
        self.id, self.given, self._world = f"job-{number}", given, world
        queue, run = world.shape.draw() if world.shape is not None else (world.queue, world.run)
        self._loop = asyncio.get_running_loop()
        self.began = self._loop.time()
        self.starts = self.began + queue * world.scale
        self.ends = self.starts + run * world.scale
        self.fails = world.fails
        self._cancelled_at: float | None = None

    @property
    def state(self) -> str:
        """queued, running, done, failed or cancelled."""
        now = self._loop.time()
        if self._cancelled_at is not None and now >= self._cancelled_at and self._cancelled_at < self.ends:
            return "cancelled"
        if now >= self.ends:
            return "failed" if self.fails else "done"
        return "running" if now >= self.starts else "queued"

    @property
    def ended(self) -> bool:
        """Nothing of it runs."""
        return self.state in ("done", "failed", "cancelled")

    def cancel(self) -> None:
        """Acknowledged, whatever comes of it."""
        if self._world.cancel_works and not self.ended and self._cancelled_at is None:
            self._cancelled_at = self._loop.time() + _CANCEL_LAG * self._world.scale

    async def until(self, *states: str) -> None:
        """Until it is in one of these, or has ended."""
        while self.state not in states and not self.ended:
            await asyncio.sleep(0.001)

    @property
    def output(self) -> Any:
        """What comes of it."""
        return {"echo": self.given}

    @property
    def age(self) -> float:
        """Seconds since it was taken, unscaled."""
        return (self._loop.time() - self.began) / self._world.scale

    @property
    def millis(self) -> tuple[int, int]:
        """In the queue, and of the run until now, as the provider would tell them: unscaled."""
        now, scale = self._loop.time(), self._world.scale
        queue = min(now, self.starts) - self.began
        run = max(0.0, min(now, self.ends) - self.starts)
        return round(queue / scale * 1000), round(run / scale * 1000)


class World:
    """faults: what the next calls of a kind (submit, status, result, cancel, …) get instead; the last one stays where
    ``stays`` names the kind.
    """

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.queue, self.run = 1.2, 4.0
        self.shape: Shape | None = None
        self.fails, self.cancel_works, self.expired = False, True, False
        self.faults: dict[str, deque[Fault]] = {}
        self.stays: set[str] = set()
        self.jobs: dict[str, Job] = {}
        self.asked: list[tuple[str, str]] = []
        self.requests: list[web.Request] = []
        self.bodies: list[tuple[str, Any]] = []
        self.hung_up = 0
        self.warm: int | None = None

    def begin(self, given: Any) -> Job:
        """One more job."""
        job = Job(self, len(self.jobs) + 1, given)
        self.jobs[job.id] = job
        return job

    def misbehave(self, kind: str, *faults: Fault, stays: bool = False) -> None:
        """At the next calls of this kind; the last one for ever, if it stays."""
        self.faults[kind] = deque(faults)
        if stays:
            self.stays.add(kind)

    def fault(self, kind: str) -> Fault | None:
        """Of a call that has just come."""
        waiting = self.faults.get(kind)
        if not waiting:
            return None
        return waiting[0] if len(waiting) == 1 and kind in self.stays else waiting.popleft()

    def count(self, kind: str) -> int:
        """How many calls of this kind came."""
        return sum(one == kind for one, _path in self.asked)

    @property
    def alive(self) -> int:
        """Jobs that still run or wait."""
        return sum(not job.ended for job in self.jobs.values())
