"""A command reaches its launcher over HTTP at once: it ends the wait for the answer, whatever else the server does."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, web

from hedgerow import wire
from hedgerow_operator.core.plan import Orders
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.server.app import make_app, make_runner
from hedgerow_operator.server.auth import LauncherClaim
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.metrics import Metrics
from tests.unit.server.builders import TOKEN, Leader, report

LAUNCHERS = 200
STOP = wire.Command(kind=wire.COMMAND_STOP, attempt=1, reason="a test says so")
# Nobody is answered by the clock: what comes within the patience of the test came for another reason.
CALM = Orders(attempt=1, placement=1, interval_seconds=3600.0)
PATIENCE_SECONDS = 60.0


class Everybody:
    """Believes whoever says anything."""

    async def check(self, token: str | None, claim: LauncherClaim) -> None:
        pass

    def recall(self, token: str, claim: LauncherClaim) -> bool:
        return True


class Place:
    """A real report server with a real hub, and launchers that wait for their answers."""

    def __init__(self) -> None:
        self.time = 0.0
        self.hub = ReportHub(lambda: self.time)
        self.hub.publish("uid-1", CALM)
        self.url = ""

    async def report(self, session: ClientSession, worker: int, seq: int = 1) -> wire.Answer:
        body = wire.encode(report(worker=worker, workers=LAUNCHERS, ranks=[], launcher=f"launcher-{worker}", seq=seq))
        async with session.post(self.url, data=body, headers={"Authorization": f"Bearer {TOKEN}"}) as response:
            assert response.status == 200
            return wire.decode_answer(await response.read())

    async def waiting(self, amount: int) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.hub._jobs["uid-1"].held) < amount:
                await asyncio.sleep(0.005)


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    found, metrics = Place(), Metrics()
    app = make_app(found.hub, Everybody(), Leader(), metrics, Health(lambda: 0.0))
    runner = make_runner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}{wire.REPORTS_PATH}"
    yield found
    await runner.cleanup()


async def test_a_command_ends_the_wait_of_its_launcher_and_of_no_other(place: Place) -> None:
    async with ClientSession() as session, asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as group:
        asked = [group.create_task(place.report(session, worker)) for worker in range(50)]
        await place.waiting(50)
        place.hub.publish("uid-1", Orders(attempt=1, placement=1, interval_seconds=3600.0, commands={7: (STOP,)}))
        assert (await asked[7]).commands == [STOP]
        assert [worker for worker, task in enumerate(asked) if task.done()] == [7]
        for task in asked:
            task.cancel()


async def test_a_command_ends_the_wait_while_others_report_without_end(place: Place) -> None:
    async def busy(worker: int) -> None:
        answer = asyncio.ensure_future(place.report(session, worker))
        for seq in itertools.count(2):
            # Each report overtakes the one before, which is answered then.
            await place.waiting(1)
            newer = asyncio.ensure_future(place.report(session, worker, seq))
            await answer
            answer = newer

    async with ClientSession() as session, asyncio.timeout(PATIENCE_SECONDS):
        others = [asyncio.ensure_future(busy(worker)) for worker in range(1, 9)]
        asked = asyncio.ensure_future(place.report(session, 0))
        await place.waiting(5)
        place.hub.publish("uid-1", Orders(attempt=1, placement=1, interval_seconds=3600.0, commands={0: (STOP,)}))
        assert (await asked).commands == [STOP]
        for task in others:
            task.cancel()
