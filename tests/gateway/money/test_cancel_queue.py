"""Losers are ended in the background until it is proven, or until nothing more can be done, and then it says so."""

import asyncio

from hedgerow_operator.core.hedging.receipts import Evidence, Receipt
from hedgerow_operator.gateway.cancel_queue import CancelQueue, Doomed
from tests.gateway.money.doubles import QUICK, ScriptedAttempt, terminal

NOTHING = Receipt(provider="a", job_id="j", note="no answer")
TAKEN = Receipt(provider="a", job_id="j", evidence=Evidence.ACKNOWLEDGED, note="it still runs")
CLOSED = Receipt(provider="a", job_id="j", evidence=Evidence.CHANNEL_CLOSED)


async def ended(*receipts: Receipt | Exception) -> tuple[Receipt, int]:
    queue, attempt = CancelQueue(QUICK), ScriptedAttempt("j", receipts)
    told: list[tuple[Receipt, int]] = []
    queue.put(
        Doomed(
            lane="e a",
            provider="a",
            job_id="j",
            end=attempt.cancel,
            done=lambda receipt, tries: told.append((receipt, tries)),
        )
    )
    await queue.drain(5)
    assert len(queue) == 0
    assert told[0][1] == attempt.cancels
    return told[0]


async def test_one_that_ends_at_once_is_asked_once() -> None:
    receipt, tries = await ended(terminal("j"))
    assert (receipt.leaked, tries) == (False, 1)


async def test_one_that_resists_is_asked_until_it_is_seen_to_have_ended() -> None:
    receipt, tries = await ended(NOTHING, TAKEN, TAKEN, terminal("j"))
    assert (receipt.evidence, receipt.leaked, tries) == (Evidence.TERMINAL, False, 4)


async def test_one_that_never_ends_is_given_up_as_leaked_with_the_best_evidence_and_what_was_tried() -> None:
    receipt, tries = await ended(TAKEN, NOTHING)
    assert receipt.leaked
    assert receipt.evidence is Evidence.ACKNOWLEDGED
    assert tries > 3
    assert receipt.note.startswith(f"it still runs; given up after {tries} tries in")


async def test_a_closed_connection_is_all_that_can_be_done_so_it_is_not_tried_again() -> None:
    receipt, tries = await ended(CLOSED)
    assert (receipt.leaked, tries) == (True, 1)


async def test_an_adapter_that_raises_counts_as_no_evidence_and_is_asked_again() -> None:
    receipt, tries = await ended(RuntimeError("boom"), terminal("j"))
    assert (receipt.leaked, tries) == (False, 2)
    receipt, _ = await ended(RuntimeError("boom"))
    assert receipt.leaked
    assert receipt.evidence is Evidence.NONE
    assert "RuntimeError" in receipt.note


async def test_at_one_provider_so_many_at_a_time_and_another_does_not_wait_for_it() -> None:
    queue, running, most = CancelQueue(QUICK), 0, 0
    release = asyncio.Event()
    finished: list[str] = []

    async def slow() -> Receipt:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await release.wait()
        running -= 1
        return terminal("j")

    async def quick() -> Receipt:
        return terminal("j")

    for _ in range(200):
        queue.put(Doomed(lane="e a", provider="a", job_id="j", end=slow, done=lambda *_: finished.append("a")))
    queue.put(Doomed(lane="e b", provider="b", job_id="j", end=quick, done=lambda *_: finished.append("b")))
    async with asyncio.timeout(60):
        while not finished:
            await asyncio.sleep(0)
    assert finished == ["b"]
    release.set()
    await queue.drain(5)
    assert len(finished) == 201
    assert most == 64


async def test_closing_leaves_what_has_not_ended_to_the_next_process() -> None:
    queue, told = CancelQueue(QUICK), []

    async def never() -> Receipt:
        await asyncio.Event().wait()
        raise AssertionError

    queue.put(Doomed(lane="e a", provider="a", job_id="j", end=never, done=lambda *found: told.append(found)))
    await queue.drain(0.01)
    await queue.close()
    assert len(queue) == 0
    assert told == []
