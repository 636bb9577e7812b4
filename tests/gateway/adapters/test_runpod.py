"""RunPod's own: early looks, cancels in the queue, its limits, its OpenAPI, jobs that end by themselves."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Call, ProviderError
from hedgerow_operator.core.hedging.receipts import Evidence, Scope
from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway.adapters.watching import ended, rig_of, until
from tests.gateway.conformance import faults
from tests.gateway.conformance.runpod import RunPodApi
from tests.gateway.conformance.serving import serving
from tests.gateway.conformance.world import World
from tests.gateway.rigs import SCALE, Rig, runpod


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """RunPod's queue."""
    async with rig_of("RunPod's queue") as made:
        yield made


async def test_it_looks_several_times_before_the_quickest_worker_begins() -> None:
    jobs = runpod("http://unasked", scale=1.0).jobs
    pauses = [jobs.pause(looks) for looks in range(8)]
    assert pauses[0] == 0.2
    assert sum(pauses[:4]) < 1.3
    assert pauses == sorted(pauses)
    assert pauses[-1] == 0.5


async def test_a_job_cancelled_in_the_queue_costs_nothing(rig: Rig) -> None:
    rig.world.queue = 300.0
    attempt = await rig.provider.submit(rig.call)
    receipt = await attempt.cancel()
    assert (receipt.evidence, receipt.scope) == (Evidence.TERMINAL, Scope.QUEUED_JOB)
    assert receipt.terminal_status == "CANCELLED"
    assert receipt.estimated_cost == 0.0
    assert receipt.was_running is False


async def test_what_a_job_that_ran_cost_is_estimated_by_what_runpod_says_that_it_ran(rig: Rig) -> None:
    rig.world.queue, rig.world.run = 0.0, 300.0
    attempt = await rig.provider.submit(rig.call)
    watch = asyncio.create_task(ended(attempt))
    await until(lambda: rig.world.count("status") > 3)
    receipt = await attempt.cancel()
    assert receipt.execution_seconds is not None
    assert receipt.estimated_cost == pytest.approx(receipt.execution_seconds * 0.001)
    await watch


async def test_its_own_times_come_with_the_answer(rig: Rig) -> None:
    answer = (await ended(await rig.provider.submit(rig.call)))[-1].answer
    assert answer is not None
    assert answer.output == {"echo": {"prompt": "hello"}}
    assert answer.queue_seconds == pytest.approx(1.2, abs=0.1)
    assert answer.execution_seconds == pytest.approx(4.0, abs=0.1)


async def test_a_hundred_and_fifty_cancels_at_once_stay_within_its_limit_and_all_end() -> None:
    world = World(0.4)  # a tenth of the window is long enough for a machine that is busy
    world.queue = 3000.0
    api = RunPodApi(world)
    async with serving(api) as url:
        provider = runpod(url, scale=0.4)
        try:
            attempts = await asyncio.gather(*(provider.submit(Call(body=b"{}")) for _number in range(150)))
            receipts = await asyncio.gather(*(attempt.cancel() for attempt in attempts))
        finally:
            await provider.close()
    assert [receipt for receipt in receipts if receipt.leaked] == []
    assert api.quota.refused == 0
    assert api.quota.most <= 20


async def test_a_job_carries_the_time_after_which_runpod_deletes_it(rig: Rig) -> None:
    await ended(await rig.provider.submit(replace(rig.call, deadline=100.0)))
    assert rig.world.bodies == [("submit", {"input": {"prompt": "hello"}, "policy": {"ttl": 160_000}})]


async def test_an_input_beyond_what_run_takes_goes_by_runsync(rig: Rig) -> None:
    large = json.dumps({"prompt": "x" * 11_000_000}).encode()
    updates = await ended(await rig.provider.submit(Call(body=large)))
    assert updates[-1].state is AttemptState.VALID
    assert rig.world.count("runsync") == 1


async def test_a_request_that_is_no_json_is_refused_before_anything_is_sent(rig: Rig) -> None:
    with pytest.raises(ProviderError, match="no JSON") as caught:
        await rig.provider.submit(Call(body=b"{"))
    assert caught.value.safe_to_retry
    assert not rig.world.asked


async def test_health_tells_workers_and_queue(rig: Rig) -> None:
    health = await rig.provider.health()
    assert (health.ok, health.warm, health.queued, health.sentence) == (True, 1, 0, "")


async def test_health_says_that_there_is_no_capacity_where_all_workers_are_throttled(rig: Rig) -> None:
    rig.api.workers = {"idle": 0, "running": 0, "throttled": 3}
    assert "all of its workers (3) are throttled" in (await rig.provider.health()).sentence


async def test_a_job_that_is_not_known_everywhere_at_once_is_not_lost(rig: Rig) -> None:
    rig.api.unknown_seconds = 1.5
    assert (await ended(await rig.provider.submit(rig.call)))[-1].state is AttemptState.VALID


async def test_a_provider_that_says_in_progress_too_early_still_gives_its_answer(rig: Rig) -> None:
    rig.api.eager = True
    rig.world.queue = 20.0
    states = [update.state for update in await ended(await rig.provider.submit(rig.call))]
    assert states == [AttemptState.QUEUED, AttemptState.RUNNING, AttemptState.VALID]


async def test_health_with_a_wrong_key_says_so(rig: Rig) -> None:
    rig.world.misbehave("health", faults.UNAUTHORIZED)
    health = await rig.provider.health()
    assert not health.ok
    assert "401" in health.sentence


async def test_workers_are_kept_warm_by_workers_min(rig: Rig) -> None:
    assert await rig.provider.set_warm(2)
    assert rig.world.bodies == [("warm", {"workers": {"min": 2}})]


async def test_management_that_refuses_by_problem_details_says_when_to_come_again(rig: Rig) -> None:
    rig.world.misbehave("warm", faults.LIMITS["problem details and RateLimit headers (RunPod)"])
    with pytest.raises(ProviderError, match="slow down") as caught:
        await rig.provider.set_warm(2)
    assert caught.value.retry_after == 2.0


async def test_so_many_jobs_share_the_limit_of_looks() -> None:
    world = World(SCALE)
    world.queue, world.run = 2.0, 1.0
    async with serving(RunPodApi(world)) as url:
        provider = runpod(url, scale=SCALE)
        provider.jobs.looks.watched = 1600
        try:
            await ended(await provider.submit(Call(body=b"{}")))
        finally:
            await provider.close()
    assert world.count("status") <= 2, "1600 jobs look at most 160 times a second, each once in 10 s"


@pytest.mark.shared_data
async def test_our_patch_fits_runpods_own_schema(rig: Rig, shared_data: Path) -> None:
    await rig.provider.set_warm(3)
    document = json.loads((shared_data / "providers" / "runpod-v2.openapi.json").read_text())
    schema = {**document["components"]["schemas"]["UpdateEndpointRequest"], "components": document["components"]}
    _kind, body = rig.world.bodies[-1]
    jsonschema.Draft202012Validator(schema).validate(body)
    assert "patch" in document["paths"]["/v2/serverless/{id}"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({"workers": {"min": -1}})
