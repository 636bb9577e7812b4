"""What reports leave is looked at a little at a time, however long they only take each other's place."""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from hedgerow import wire
from hedgerow_operator.core.plan import Orders
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.server.auth import LauncherClaim
from hedgerow_operator.server.garbage import REPORTS, Garbage
from hedgerow_operator.server.intake import Intake
from hedgerow_operator.server.metrics import Metrics
from hedgerow_operator.server.refusal import Refusal
from tests.unit.server.builders import TOKEN, Leader, report

LAUNCHERS = 1000
# As server.listening sets them.
THRESHOLDS = (10_000, 5, 10_000)


class Everybody:
    """Believes all."""

    async def check(self, token: str | None, claim: LauncherClaim) -> None:
        raise AssertionError("everybody is known")

    def recall(self, token: str, claim: LauncherClaim) -> bool:
        return True


def body_of(worker: int, seq: int) -> bytes:
    """A report of this worker's only rank."""
    rank = wire.RankReport(rank=worker, local_rank=0, state=wire.RANK_RUNNING, beats=3, step=2)
    return wire.encode(report(worker=worker, workers=LAUNCHERS, seq=seq, ranks=[rank]))


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(*THRESHOLDS)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("thresholds")
async def test_what_thousands_of_launchers_have_said_does_not_count_as_young_for_long() -> None:
    now, most, answered = 0.0, 0, 0

    def reply(what: bytes | Refusal) -> None:
        nonlocal answered
        answered += isinstance(what, bytes)

    hub = ReportHub(lambda: now)
    hub.publish("uid-1", Orders(placement=1, attempt=1))
    intake = Intake(hub, Everybody(), Leader(), Metrics(), clock=lambda: now)
    for seq in range(1, 7):
        now += 5.0
        for worker in range(LAUNCHERS):
            intake.take(wire.REPORTS_PATH, TOKEN, body_of(worker, seq), reply)
        async with asyncio.timeout(60):
            while len(intake.backlog):
                await asyncio.sleep(0)
        most = max(most, len(gc.get_objects(generation=0)))
    assert answered >= 5 * LAUNCHERS
    assert most < THRESHOLDS[0]


def test_a_process_that_collects_no_garbage_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[int] = []
    monkeypatch.setattr(gc, "collect", collected.append)
    monkeypatch.setattr(gc, "isenabled", lambda: False)
    garbage = Garbage()
    for _ in range(10 * REPORTS):
        garbage.left_by_report()
    assert collected == []
