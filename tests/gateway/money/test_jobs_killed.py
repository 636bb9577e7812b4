"""A gateway is killed: whoever asks the next one for a job of it is told what became of it."""

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web

from hedgerow_operator.gateway.job_book import EndpointJobs
from hedgerow_operator.gateway.jobs import LOST, LOST_RESULT
from hedgerow_operator.gateway.journal import Journal
from tests.gateway.conformance.runpod import RunPodApi
from tests.gateway.conformance.serving import serving
from tests.gateway.conformance.world import World
from tests.gateway.data_path.gateways import free_socket, get, post
from tests.gateway.money.processes import Running, gateway, written


@contextlib.asynccontextmanager
async def told() -> AsyncIterator[tuple[str, list[object]]]:
    """An address for webhooks, and what it was told."""
    heard: list[object] = []

    async def hear(request: web.BaseRequest) -> web.Response:
        heard.append(await request.json())
        return web.Response()

    runner, listener = web.ServerRunner(web.Server(hear), shutdown_timeout=0.1), free_socket()
    await runner.setup()
    await web.SockSite(runner, listener).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/told", heard
    finally:
        await runner.cleanup()


async def begun(running: Running, **more: object) -> str:
    return str((await post(f"{running.url}/run", {"input": {}, **more})).json()["id"])


async def shown(running: Running, job_id: str) -> dict[str, object]:
    got = await get(f"{running.url}/status/{job_id}")
    assert got.status == 200, got.text
    found: dict[str, object] = got.json()
    return found


async def until_state(running: Running, job_id: str, state: str) -> None:
    async with asyncio.timeout(25):
        while (await shown(running, job_id))["status"] != state:
            await asyncio.sleep(0.05)


async def test_jobs_of_a_killed_gateway_are_told_of_as_they_are(tmp_path: Path) -> None:
    world = World(1.0)
    async with serving(RunPodApi(world)) as url, told() as (webhook, heard):
        folder = written(tmp_path, {"one": url}, hourly="100")
        async with gateway(folder) as first:
            world.queue = world.run = 0.0
            completed = await begun(first)
            await until_state(first, completed, "COMPLETED")
            world.queue = world.run = 600.0
            running, cancelled = await begun(first, webhook=webhook), await begun(first)
            assert (await post(f"{first.url}/cancel/{cancelled}")).json()["status"] == "CANCELLED"
            await asyncio.sleep(0.2)  # what can wait is written within a twentieth of a second
            last = await begun(first)
            await first.kill()
        expected = {
            completed: {"id": completed, "status": "FAILED", "error": LOST_RESULT},
            running: {"id": running, "status": "FAILED", "error": LOST},
            cancelled: {"id": cancelled, "status": "CANCELLED"},
            last: {"id": last, "status": "FAILED", "error": LOST},
        }
        for _each in range(2):
            async with gateway(folder) as again:
                assert {job_id: await shown(again, job_id) for job_id in expected} == expected
                got = await post(f"{again.url}/retry/{running}")
                assert (got.status, "send the job anew" in got.text) == (400, True)
                assert (await post(f"{again.url}/cancel/{running}")).json()["status"] == "FAILED"
                assert (await get(f"{again.url}/status/0-nobody")).status == 404
                async with asyncio.timeout(25):
                    while not heard:
                        await asyncio.sleep(0.05)
                await again.kill()
        assert heard == [expected[running]], "once, although the gateway began twice"


def names(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return [row[0] for row in db.execute("SELECT id FROM jobs ORDER BY id")]


async def test_a_jobs_name_is_in_the_file_before_its_client_has_it_and_goes_when_it_can_be_asked_for_no_more(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite"
    journal = Journal(path)
    journal.open()
    book = EndpointJobs("team/jobs", journal, ())
    for name, seconds in (("a", 600.0), ("b", 0.0), ("c", 600.0)):
        await book.begun(name, seconds, "")
    assert {"a", "c"} <= set(names(path))
    book.ended("c", "FAILED", "why", 0.0)
    book.forgotten("a")
    await journal.close()
    after = Journal(path)
    left = after.open().jobs
    assert [(job.id, job.state, job.error) for job in left if job.until > time.time()] == []
    after.job_forgotten("nobody")
    after.flush()
    assert names(path) == []
    await after.close()
