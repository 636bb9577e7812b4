"""The hub of reports: what it remembers, when it answers, and when it wakes the queue."""

import asyncio
import dataclasses
import time
from typing import Any

import pytest

from hedgerow import wire
from hedgerow_operator.core.noteworthy import NEWS_SECONDS, UNUSUAL_SECONDS
from hedgerow_operator.core.plan import BUSY_INTERVAL_SECONDS, Orders
from hedgerow_operator.reconcile.reports import FORGET_SECONDS, ReportHub, differ
from tests.unit.core.builders import UID, make_rank, make_report

ORDERS = Orders(placement=1, attempt=1, deadlines={"step": 10.0}, interval_seconds=5.0)
STOP = wire.Command(kind=wire.COMMAND_STOP, attempt=1)
PATIENCE_SECONDS = 60.0


class Hub:
    """A hub on a pretended clock that knows the job."""

    def __init__(self, orders: Orders | None = ORDERS) -> None:
        self.now = 1000.0
        self.hub = ReportHub(clock=lambda: self.now)
        self.woken: list[float] = []
        self.hub.on_report = lambda uid, seconds: self.woken.append(seconds)
        if orders:
            self.hub.publish(UID, orders)

    def receive(self, **fields: Any) -> wire.Report:
        report = make_report(make_rank(0), **fields)
        self.hub.receive(report)
        return report

    async def told(self, report: wire.Report) -> None:
        """The launcher has been told the deadlines, so that the next answer can be held."""
        await asyncio.wait_for(self.hub.answer(report), PATIENCE_SECONDS)

    def seqs(self) -> list[int]:
        return [heard.report.seq for heard in self.hub.heard(UID)]


def test_the_newest_report_of_each_launcher_counts_however_they_arrive() -> None:
    hub = Hub()
    for seq in (3, 5, 4, 5):
        hub.receive(seq=seq)
    assert hub.seqs() == [5]


def test_a_launcher_that_was_started_anew_counts_from_its_first_report() -> None:
    hub = Hub()
    hub.receive(seq=50)
    hub.receive(seq=1, launcher="another")
    assert hub.seqs() == [1]


def test_a_repeated_report_does_not_make_its_launcher_look_younger() -> None:
    hub = Hub()
    hub.receive(seq=1)
    hub.now += 20.0
    hub.receive(seq=1)
    assert hub.hub.heard(UID)[0].age == 20.0


def test_a_report_of_a_job_that_is_not_known_is_not_kept() -> None:
    hub = Hub(orders=None)
    hub.receive(seq=1)
    assert (hub.hub.uid_known(UID), hub.hub.heard(UID), hub.woken) == (False, (), [])


def test_silence_counts_from_when_the_job_was_known() -> None:
    hub = Hub(orders=None)
    hub.now += 3600.0
    assert hub.hub.listening_seconds(UID) == 0.0
    hub.hub.publish(UID, ORDERS)
    hub.now += 7.0
    hub.hub.publish(UID, orders(attempt=2))
    assert hub.hub.listening_seconds(UID) == 7.0


def orders(**changes: Any) -> Orders:
    """The usual orders with these changes."""
    fields = {name: getattr(ORDERS, name) for name in ORDERS.__struct_fields__}
    return Orders(**{**fields, **changes})


def test_launchers_of_old_placements_are_forgotten_after_a_while_and_the_current_ones_are_not() -> None:
    hub = Hub()
    hub.receive(seq=1)
    hub.receive(seq=1, placement=7)
    hub.now += FORGET_SECONDS + 1
    hub.hub.publish(UID, orders(attempt=2))
    assert [heard.report.placement for heard in hub.hub.heard(UID)] == [1]


@pytest.mark.parametrize(
    ("stage", "then"),
    [(wire.STAGE_RUNNING, wire.STAGE_STOPPED), (wire.STAGE_STOPPING, wire.STAGE_STOPPED),
     (wire.STAGE_WAITING, wire.STAGE_WAITING)],
)
def test_nothing_lives_of_a_worker_that_has_ended_whatever_its_launcher_said_last(stage: str, then: str) -> None:
    hub = Hub()
    hub.receive(seq=1, stage=stage)
    hub.now += 3.0
    hub.hub.note_over(UID, 1, 0)
    hub.hub.note_over(UID, 1, 5)
    hub.hub.note_over("other", 1, 0)
    assert [(heard.report.stage, heard.age) for heard in hub.hub.heard(UID)] == [(then, 3.0)]


OVERDUE = {"ranks": [make_rank(0, progress_age=11.0)]}
STOPPED = {"ranks": [make_rank(0, process_state="T")]}
LOOKS: dict[str, tuple[dict[str, Any] | None, dict[str, Any], float | None]] = {
    "the first": (None, {}, NEWS_SECONDS),
    "one that says the same": ({}, {}, None),
    "another stage": ({}, {"stage": wire.STAGE_STOPPED}, NEWS_SECONDS),
    "another attempt": ({}, {"attempt": 2}, NEWS_SECONDS),
    "another launcher": ({}, {"launcher": "another"}, NEWS_SECONDS),
    "a checkpoint": ({}, {"checkpoints": wire.CheckpointScan(
        candidates=[wire.Checkpoint(step=1, path="/1", validity=wire.CHECKPOINT_COMPLETE)])}, NEWS_SECONDS),
    "a rank past its deadline": ({}, OVERDUE, NEWS_SECONDS),
    "a rank that stays past its deadline": (OVERDUE, OVERDUE, UNUSUAL_SECONDS),
    "a rank that goes on": (OVERDUE, {}, NEWS_SECONDS),
    "a rank that is stopped": ({}, STOPPED, NEWS_SECONDS),
    "a rank that stays stopped": (STOPPED, STOPPED, UNUSUAL_SECONDS),
    "a rank that has ended": ({}, {"ranks": [make_rank(0, state=wire.RANK_EXITED)]}, NEWS_SECONDS),
    "a further step": ({}, {"ranks": [make_rank(0, step=38, beats=38)]}, None),
}


@pytest.mark.parametrize("case", LOOKS)
def test_the_job_is_looked_at_for(case: str) -> None:
    hub = Hub()
    before, fields, within = LOOKS[case]
    if before is not None:
        hub.hub.receive(dataclasses.replace(make_report(make_rank(0), seq=1), **before))
        hub.woken.clear()
    hub.hub.receive(dataclasses.replace(make_report(make_rank(0), seq=2), **fields))
    assert hub.woken == ([] if within is None else [within])


def test_a_short_fence_makes_reports_more_frequent_and_not_more_urgent() -> None:
    hub = Hub()
    hub.hub.publish(UID, orders(interval_seconds=2 * BUSY_INTERVAL_SECONDS))
    hub.receive(seq=1)
    hub.receive(seq=2)
    assert hub.woken == [NEWS_SECONDS]


def test_while_something_is_decided_reports_without_news_bring_one_look_a_second() -> None:
    hub = Hub()
    hub.hub.publish(UID, orders(interval_seconds=BUSY_INTERVAL_SECONDS))
    hub.receive(seq=1)
    hub.receive(seq=2)
    assert hub.woken == [NEWS_SECONDS, UNUSUAL_SECONDS]


async def test_an_answer_is_held_until_there_is_a_command() -> None:
    hub = Hub()
    report = hub.receive(seq=1)
    await hub.told(report)
    waiting = asyncio.create_task(hub.hub.answer(report))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    hub.hub.publish(UID, orders(attempt=0, commands={0: (STOP,)}))
    answer = await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    assert (answer.current, answer.commands) == (False, [STOP])


async def test_an_answer_comes_by_itself_when_the_next_report_is_due() -> None:
    hub = Hub(orders(interval_seconds=0.02))
    report = hub.receive(seq=1)
    await hub.told(report)
    waiting = asyncio.create_task(hub.hub.answer(report))
    await asyncio.sleep(0.01)
    hub.now += 0.02
    answer = await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    assert (answer.current, answer.commands) == (True, [])


async def test_an_order_for_another_worker_does_not_end_the_wait() -> None:
    hub = Hub()
    report = hub.receive(seq=1)
    await hub.told(report)
    waiting = asyncio.create_task(hub.hub.answer(report))
    await asyncio.sleep(0)
    hub.hub.publish(UID, orders(commands={1: (STOP,)}))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    waiting.cancel()


async def test_a_launcher_of_a_job_that_goes_meanwhile_is_confirmed_nothing_and_told_nothing() -> None:
    hub = Hub()
    report = hub.receive(seq=1)
    await hub.told(report)
    waiting = asyncio.create_task(hub.hub.answer(report))
    await asyncio.sleep(0)
    hub.hub.forget(UID)
    answer = await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    assert (answer.current, answer.commands) == (False, [])


@pytest.mark.parametrize(
    ("told", "now", "answer"),
    [({}, {"step": 5.0}, True), ({"step": 10.0}, {"step": 11.0}, False), ({"step": 10.0}, {"step": 13.0}, True),
     ({"step": 10.0}, {"step": 10.0, "eval": 60.0}, True)],
)
def test_deadlines_are_told_anew_when_they_have_moved(
    told: dict[str, float], now: dict[str, float], answer: bool
) -> None:
    assert differ(told, now) is answer


async def test_a_held_report_is_answered_as_soon_as_the_launcher_has_sent_a_newer_one() -> None:
    hub = Hub()
    first = hub.receive(seq=1)
    await hub.told(first)
    held = asyncio.create_task(hub.hub.answer(hub.receive(seq=2)))
    other = asyncio.create_task(hub.hub.answer(hub.receive(seq=1, worker=1)))
    await asyncio.wait({other}, timeout=PATIENCE_SECONDS)  # its first answer, with the deadlines
    other = asyncio.create_task(hub.hub.answer(hub.receive(seq=2, worker=1)))
    await asyncio.sleep(0)
    assert not held.done()
    hub.receive(seq=3)
    assert (await asyncio.wait_for(held, PATIENCE_SECONDS)).current
    assert not other.done()
    other.cancel()


@pytest.mark.parametrize(("ordered", "told"), [(5.0, 1.0), (0.5, 0.5)])
async def test_where_reports_cost_nothing_launchers_are_asked_for_them_more_often(ordered: float, told: float) -> None:
    hub = ReportHub(clock=lambda: 1000.0, longest_interval=1.0)
    hub.publish(UID, Orders(placement=1, attempt=1, deadlines={"step": 10.0}, interval_seconds=ordered))
    report = make_report(make_rank(0))
    hub.receive(report)
    answer = await asyncio.wait_for(hub.answer(report), PATIENCE_SECONDS)
    assert answer.interval_seconds == told


def test_ten_times_as_many_reports_take_no_more_memory() -> None:
    sizes = []
    hub = Hub()
    for many in (100, 1000):
        for seq in range(many):
            for worker in range(4):
                hub.receive(seq=1000 * many + seq, worker=worker)
        sizes.append(entries(hub.hub))
    assert sizes[0] == sizes[1] > 0


def test_placements_that_are_gone_leave_nothing_behind() -> None:
    hub = Hub()
    sizes = []
    for placement in range(1, 40):
        hub.hub.forget_placement(UID, placement)
        hub.hub.publish(UID, orders(placement=placement, attempt=placement))
        hub.receive(seq=1, placement=placement)
        hub.now += FORGET_SECONDS / 2
        sizes.append(entries(hub.hub))
    assert sizes[-1] == sizes[10]


async def test_answers_that_were_held_leave_nothing_behind() -> None:
    hub = Hub(orders(interval_seconds=0.01))
    await hub.told(hub.receive(seq=1))
    for seq in range(2, 300):
        report = hub.receive(seq=seq)
        waiting = asyncio.create_task(hub.hub.answer(report))
        await asyncio.sleep(0)
        if seq % 2:
            waiting.cancel()
        hub.now += 0.02
    await asyncio.sleep(0.1)
    assert len(hub.hub._waiting) <= 1


def entries(hub: ReportHub) -> int:
    """How much is kept of all launchers."""
    job = hub._jobs[UID]
    return sum(len(kept) for kept in (job.heard, job.sums, job.told, job.outlines, job.held))


async def test_thousands_of_held_answers_come_each_in_its_time() -> None:
    hub = Hub(orders(interval_seconds=0.05))
    hub.now = asyncio.get_running_loop().time()
    hub.hub._clock = hub.hub._waiting._clock = asyncio.get_running_loop().time
    answered: dict[int, wire.Answer] = {}
    for worker in range(2000):
        report = hub.receive(seq=1, worker=worker)
        hub.hub.hold(report, lambda answer: None)
        hub.hub.hold(report, lambda answer, worker=worker: answered.setdefault(worker, answer))  # type: ignore[misc]
    assert len(answered) < 2000
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(answered) < 2000:
            await asyncio.sleep(0.01)


async def test_a_command_reaches_all_of_two_thousand_launchers_within_a_second() -> None:
    hub = Hub()
    told: list[wire.Answer] = []
    for worker in range(2000):
        report = hub.receive(seq=1, worker=worker)
        hub.hub.hold(report, lambda answer: None)
        hub.hub.hold(report, told.append)
    assert told == []
    before = time.process_time()
    hub.hub.publish(UID, orders(attempt=0, commands=dict.fromkeys(range(2000), (STOP,))))
    assert time.process_time() - before < 1.0
    assert [answer.commands for answer in told] == [[STOP]] * 2000
