"""The journal: what was begun is known to the next process, which ends it; and no broken file stops a gateway."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.core.hedging.charges import Charge
from hedgerow_operator.gateway import journal as journal_module
from hedgerow_operator.gateway.books import Books
from hedgerow_operator.gateway.journal_file import JournalInUseError
from hedgerow_operator.gateway.ports import Ended, Ending
from tests.gateway.money.doubles import (
    ENDPOINT,
    Now,
    ScriptedAttempt,
    ScriptedProvider,
    books,
    dollars,
    held_by,
    launch,
    loser,
    terminal,
)

EACH = 1_000_000_000


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return db.execute(query).fetchall()


async def abandon(kept: Books) -> None:
    """As a kill would leave it: no receipts for what is still running."""
    await kept.queue.close()
    kept.journal.flush()
    await kept.journal.close()


async def test_a_launch_is_in_the_file_before_it_is_made_and_its_name_right_after(tmp_path: Path) -> None:
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    kept = books(path)
    account, _, _ = kept.parts(ENDPOINT, [provider])
    held = await held_by(account, provider)
    assert rows(path, "SELECT job FROM attempts") == [("",)]
    held.taken("job-1")
    await asyncio.sleep(0)
    assert rows(path, "SELECT job FROM attempts") == [("job-1",)]
    held.settle(Ended(ending=Ending.WON, seconds=1.0))
    kept.journal.flush()
    assert rows(path, "SELECT * FROM attempts") == []
    await kept.close()


async def test_the_next_process_ends_what_was_left_and_writes_its_receipts(tmp_path: Path) -> None:
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    before = books(path)
    account, losers, _ = before.parts(ENDPOINT, [provider])
    (await held_by(account, provider)).taken("running")
    await held_by(account, provider)
    lost = await held_by(account, provider)
    lost.taken("losing")
    losers.give(loser(lost, provider, ScriptedAttempt("losing", [RuntimeError("away")]), "another won"))
    await abandon(before)

    after = books(path)
    after.parts(ENDPOINT, [provider])
    assert await after.until_quiet(ENDPOINT, 5)
    assert provider.recovered == ["running", "losing"]
    found = {given.receipt.job_id: given for given in after.receipts()}
    assert found["running"].why == "the gateway that had made it ended"
    assert found["losing"].why == "another won"
    assert found[""].receipt.leaked
    assert "nobody can end it" in found[""].receipt.note
    assert rows(path, "SELECT * FROM attempts") == []
    await after.close()


async def test_what_was_held_and_spent_before_counts_in_the_next_process(tmp_path: Path) -> None:
    path, provider, now = tmp_path / "journal.sqlite", ScriptedProvider(), Now()
    before = books(path, now=now)
    account, _, _ = before.parts(ENDPOINT, [provider], dollars("300"))
    (await held_by(account, provider)).settle(Ended(ending=Ending.WON, seconds=90.0, cost=90.0))
    await held_by(account, provider)
    (await held_by(account, provider)).taken("second")
    await abandon(before)

    now.at += 600
    after = books(path, now=now)
    account, _, _ = after.parts(ENDPOINT, [provider], dollars("300"))
    spending = after.spending(ENDPOINT)
    assert (spending.hour, spending.measured_day) == (690.0, 90.0)
    assert spending.held == 100.0
    assert await account.reserve(launch(provider)) is None
    await after.close()


async def test_a_provider_that_is_no_longer_there_leaves_a_leaked_receipt(tmp_path: Path) -> None:
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    before = books(path)
    account, _, _ = before.parts(ENDPOINT, [provider])
    (await held_by(account, provider)).taken("j")
    await abandon(before)
    after = books(path)
    after.parts(ENDPOINT, [ScriptedProvider("b")])
    (given,) = after.receipts()
    assert given.receipt.leaked
    assert given.receipt.note == "its provider a is no longer one of the endpoint's"
    await after.close()


async def test_a_lease_outlives_its_gateway(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    before = books(path, share=True)
    before.lease(ENDPOINT, Limits(200 * EACH, None))
    await before.close()
    after = books(path, share=True)
    account, _, _ = after.parts(ENDPOINT, [ScriptedProvider()], dollars("1000"))
    assert account.budget.limits.hourly == 200 * EACH
    await after.close()


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 9000])
async def test_a_file_that_cannot_be_read_is_moved_aside_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(content)
    kept = Books(path)
    told = kept.open()
    assert told.startswith(f"the journal {path} cannot be read")
    assert (tmp_path / "journal.sqlite.broken").read_bytes() == content
    account, _, _ = kept.parts(ENDPOINT, [ScriptedProvider()])
    await held_by(account, ScriptedProvider())
    assert len(rows(path, "SELECT * FROM attempts")) == 1
    await kept.close()


async def test_a_file_that_breaks_while_it_is_used_is_replaced_and_what_runs_is_written_anew(tmp_path: Path) -> None:
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    kept = books(path)
    account, _, _ = kept.parts(ENDPOINT, [provider])
    (await held_by(account, provider)).taken("first")
    await asyncio.sleep(0)
    kept.journal._file.checkpoint(whole=True)
    size = path.stat().st_size
    path.write_bytes(b"\xff" * size)
    kept.journal._file.db.close()
    kept.journal._file.db = sqlite3.connect(path)
    (await held_by(account, provider)).taken("second")
    await asyncio.sleep(0)
    assert rows(path, "SELECT job FROM attempts ORDER BY id") == [("first",), ("second",)]
    await kept.close()


async def test_a_full_disk_takes_no_endpoint_away_and_all_is_written_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "_RETRY_SECONDS", 0.05)
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    kept = books(path)
    account, _, _ = kept.parts(ENDPOINT, [provider])
    pages = kept.journal._file.db.execute("PRAGMA page_count").fetchone()[0]
    kept.journal._file.db.execute(f"PRAGMA max_page_count={pages}")
    for _ in range(200):
        (await held_by(account, provider)).taken("j" * 200)
    assert kept.journal.errors
    assert "full" in kept.journal.trouble
    kept.journal._file.db.execute("PRAGMA max_page_count=100000")
    async with asyncio.timeout(60):
        while kept.journal.trouble:
            await asyncio.sleep(0.02)
    assert rows(path, "SELECT count(*) FROM attempts WHERE job != ''") == [(200,)]
    await kept.close()


async def test_two_gateways_never_share_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    kept = books(path)
    with pytest.raises(JournalInUseError, match="another gateway uses"):
        Books(path).open()
    await kept.close()
    again = books(path)
    await again.close()


async def test_it_keeps_so_many_receipts_and_a_day_of_spending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "MOST_RECEIPTS", 10)
    monkeypatch.setattr(journal_module, "_SWEEP_SECONDS", 0.0)
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    kept = books(path, now=Now(at=1000.0))
    account, losers, _ = kept.parts(ENDPOINT, [provider])
    account.budget.charge("a", Charge(1), 0.0)
    for number in range(50):
        held = await held_by(account, provider)
        losers.give(loser(held, provider, ScriptedAttempt(f"j{number}", [terminal(f"j{number}")])))
    assert await kept.until_quiet(ENDPOINT, 5)
    kept.journal.flush()
    (await held_by(account, provider)).release()
    kept.journal.flush()
    assert rows(path, "SELECT count(*) FROM receipts") == [(10,)]
    assert rows(path, "SELECT * FROM spent") == []
    await kept.close()


async def test_its_log_has_bounds_however_long_it_is_written_without_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "_SWEEP_SECONDS", 0.0)
    monkeypatch.setattr(journal_module, "_LARGE_LOG_BYTES", 200_000)
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    kept = books(path)
    account, _, _ = kept.parts(ENDPOINT, [provider])
    log, largest = tmp_path / "journal.sqlite-wal", 0
    for _ in range(2000):
        held = await held_by(account, provider)
        held.taken("j" * 100)
        held.settle(Ended(ending=Ending.WON, seconds=0.0))
        largest = max(largest, log.stat().st_size)
    assert largest < 4_000_000
    await kept.close()
    assert rows(path, "SELECT * FROM attempts") == []


async def test_a_name_of_ours_is_written_only_if_its_attempt_runs_on(tmp_path: Path) -> None:
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    kept = books(path)
    account, _, _ = kept.parts(ENDPOINT, [provider])
    quick, slow = await held_by(account, provider), await held_by(account, provider)
    for name, held in (("request-1", quick), ("request-2", slow)):
        held.taken(name)
    quick.settle(Ended(ending=Ending.WON, seconds=1.0))
    await asyncio.sleep(0)
    assert [job for (job,) in rows(path, "SELECT job FROM attempts ORDER BY id")] == ["", ""]
    async with asyncio.timeout(10):
        while rows(path, "SELECT job FROM attempts") != [("request-2",)]:
            await asyncio.sleep(0.01)
    await kept.close()


async def test_what_attempts_cost_at_about_the_same_time_is_one_line(tmp_path: Path) -> None:
    path, provider = tmp_path / "journal.sqlite", ScriptedProvider()
    kept = books(path, now=Now())
    account, _, _ = kept.parts(ENDPOINT, [provider])
    for _each in range(3):
        held = await held_by(account, provider)
        held.taken("request-1")
        held.settle(Ended(ending=Ending.WON, seconds=1.0))
    kept.journal.flush()
    assert rows(path, "SELECT sum(amount), count(*) FROM spent") == [(3 * EACH, 1)]
    await kept.close()
