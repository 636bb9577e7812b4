"""A gateway is killed in the middle of races: the next one ends what it left, and the budget was never exceeded."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from click.testing import CliRunner

from hedgerow_operator.cli.main import commands
from tests.gateway.conformance.faults import BROKEN
from tests.gateway.conformance.runpod import RunPodApi
from tests.gateway.conformance.serving import serving
from tests.gateway.conformance.world import World
from tests.gateway.data_path.gateways import client, get
from tests.gateway.money.processes import Running, gateway, written

WORST = 0.08


@contextlib.asynccontextmanager
async def two_runpods() -> AsyncIterator[tuple[dict[str, World], dict[str, str]]]:
    """Jobs run for ten minutes, so that only a cancel ends them."""
    worlds = {"one": World(1.0), "two": World(1.0)}
    for world in worlds.values():
        world.queue, world.run = 0.5, 600.0
    async with serving(RunPodApi(worlds["one"])) as one, serving(RunPodApi(worlds["two"])) as two:
        yield worlds, {"one": one, "two": two}


async def ask(running: Running, count: int) -> list[int]:
    """So many jobs at once; the status of each answer."""

    async def one() -> int:
        with contextlib.suppress(OSError):
            async with http.post(f"{running.url}/run", json={"input": {}}) as answer:
                return answer.status
        return 0

    async with client() as http:
        return await asyncio.gather(*(one() for _ in range(count)))


def named(folder: Path) -> int:
    """Attempts in the journal that their provider has named."""
    path = folder / "state" / "gateway.sqlite"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT count(*) FROM attempts WHERE job != ''").fetchone()[0])


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.05)


def made(worlds: dict[str, World]) -> int:
    return sum(len(world.jobs) for world in worlds.values())


def alive(worlds: dict[str, World]) -> int:
    return sum(world.alive for world in worlds.values())


async def test_two_hundred_races_at_the_edge_of_the_budget_and_a_kill(tmp_path: Path) -> None:
    async with two_runpods() as (worlds, urls):
        folder = written(tmp_path, urls, hourly="4")
        async with gateway(folder) as first:
            await ask(first, 200)
            await until(lambda: named(folder) >= 50)
            assert await first.used() <= 4.0
            await first.kill()
        assert made(worlds) == 50, "as many attempts as four dollars pay at worst"
        assert alive(worlds) == 50

        async with gateway(folder) as second:
            while alive(worlds):
                assert await second.used() <= 4.0
                await asyncio.sleep(0.1)
            found: list[dict[str, object]] = []
            async with asyncio.timeout(60):
                while len(found) < 50:
                    found = (await get(f"{second.ops}/receipts?limit=1000")).json()["receipts"]
                    await asyncio.sleep(0.1)
            jobs = {job for world in worlds.values() for job in world.jobs}
            assert {one["jobId"] for one in found} == jobs
            assert {(one["evidence"], one["leaked"]) for one in found} == {("confirmed_terminal", False)}
            assert {one["why"] for one in found} == {"the gateway that had made it ended"}
            assert 0 < await second.used() < 4.0
            await ask(second, 200)
            await until(lambda: made(worlds) > 50)
            assert await second.used() <= 4.0
            listed = CliRunner().invoke(commands, ["receipts", "--state-dir", str(folder / "state"), "--limit", "3"])
            assert listed.exit_code == 0, listed.output
            assert "confirmed_terminal" in listed.output
            assert len(listed.output.splitlines()) == 4
            await second.kill()


async def test_while_a_provider_answers_nothing_attempts_are_kept_and_ended_once_it_does(tmp_path: Path) -> None:
    async with two_runpods() as (worlds, urls):
        folder = written(tmp_path, urls, hourly="100")
        async with gateway(folder) as first:
            await ask(first, 5)
            await until(lambda: named(folder) == 10)
            await first.kill()
        for world in worlds.values():
            world.misbehave("cancel", BROKEN, stays=True)
            world.misbehave("status", BROKEN, stays=True)
        async with gateway(folder) as second:
            await until(lambda: all(world.count("cancel") >= 5 for world in worlds.values()))
            await second.kill()
        assert (alive(worlds), named(folder)) == (10, 10)
        for world in worlds.values():
            world.faults.clear()
        async with gateway(folder) as third:
            await until(lambda: not alive(worlds))
            await until(lambda: named(folder) == 0)
            found = (await get(f"{third.ops}/receipts")).json()["receipts"]
            assert [one["leaked"] for one in found] == [False] * 10


async def test_told_to_end_a_gateway_ends_its_losers_before_it_goes(tmp_path: Path) -> None:
    async with two_runpods() as (worlds, urls):
        folder = written(tmp_path, urls, hourly="100")
        async with gateway(folder) as running:
            await ask(running, 5)
            await until(lambda: named(folder) == 10)
            running.process.terminate()
            async with asyncio.timeout(40):
                await running.process.wait()
        assert (alive(worlds), named(folder)) == (0, 0)
