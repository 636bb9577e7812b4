"""Cerebrium: the beacon of our worker code, and what is evidence of the end of a run."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from hedgerow_operator.core.hedging.receipts import Evidence
from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway.adapters.watching import ended, rig_of, until
from tests.gateway.conformance import faults
from tests.gateway.rigs import Rig


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """With our beacon."""
    async with rig_of("Cerebrium with our beacon") as made:
        yield made


async def test_our_worker_code_tells_when_it_has_begun(rig: Rig) -> None:
    loop = asyncio.get_running_loop()
    attempt, times = await rig.provider.submit(rig.call), {}
    async for update in attempt.updates():
        times[update.state] = loop.time()
    job = rig.world.jobs["job-1"]
    assert job.starts <= times[AttemptState.RUNNING] < times[AttemptState.VALID]
    assert times[AttemptState.VALID] >= job.ends


async def test_only_its_own_run_is_ended(rig: Rig) -> None:
    rig.world.run = 400.0
    first, second = await rig.provider.submit(rig.call), await rig.provider.submit(rig.call)
    watch = asyncio.gather(ended(first), ended(second))
    await until(lambda: [job.state for job in rig.world.jobs.values()] == ["running"] * 2)
    await until(lambda: first.run_id == "job-1")  # type: ignore[attr-defined]
    await first.cancel()
    assert [job.state for job in rig.world.jobs.values()] == ["cancelled", "running"]
    await second.cancel()
    await watch


async def test_a_run_that_the_provider_does_not_end_is_leaked_though_it_took_the_cancel(rig: Rig) -> None:
    rig.world.run, rig.world.cancel_works = 4000.0, False
    attempt = await rig.provider.submit(rig.call)
    watch = asyncio.create_task(ended(attempt))
    await until(lambda: bool(rig.world.jobs) and rig.world.jobs["job-1"].state == "running")
    receipt = await attempt.cancel()
    assert receipt.evidence is Evidence.ACKNOWLEDGED
    assert receipt.leaked
    assert "still open 30 s" in receipt.note
    await watch


async def test_a_call_whose_run_is_not_told_is_closed_and_counts_as_leaked() -> None:
    async with rig_of("Cerebrium") as rig:
        rig.world.run = 400.0
        attempt = await rig.provider.submit(rig.call)
        await until(lambda: bool(rig.world.jobs))
        receipt = await attempt.cancel()
        assert (receipt.evidence, receipt.leaked) == (Evidence.CHANNEL_CLOSED, True)
        assert "could not be deleted" in receipt.note
        assert rig.world.count("cancel") == 0


async def test_a_cancel_that_meets_a_wrong_key_is_no_evidence_of_anything_but_the_closed_call(rig: Rig) -> None:
    rig.world.run = 400.0
    rig.world.misbehave("cancel", faults.UNAUTHORIZED)
    attempt = await rig.provider.submit(rig.call)
    await until(lambda: bool(rig.world.jobs) and attempt.run_id == "job-1")  # type: ignore[attr-defined]
    receipt = await attempt.cancel()
    assert receipt.leaked
    assert "401" in receipt.note
