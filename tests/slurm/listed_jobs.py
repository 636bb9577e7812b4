"""What tests of drivers wait for: a job as a driver lists it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.core.slurm.seen import SlurmJob

SECONDS = 60.0
Result = TypeVar("Result")


async def until(probe: Callable[[], Awaitable[Result]], holds: Callable[[Result], object]) -> Result:
    """Ask until it holds."""
    deadline = time.monotonic() + SECONDS
    while not holds(seen := await probe()):
        assert time.monotonic() < deadline, seen
        await asyncio.sleep(0.1)
    return seen


async def seen(driver: Driver, job_id: str, holds: Callable[[SlurmJob], object]) -> SlurmJob:
    """The job in the listing, once that holds of it."""

    async def listed() -> Sequence[SlurmJob]:
        return [job for job in await driver.jobs() if job.id == job_id]

    return (await until(listed, lambda found: found and holds(found[0])))[0]


def runs(job: SlurmJob) -> bool:
    return job.state == "RUNNING" and not job.flags
