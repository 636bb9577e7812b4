"""What must outlive the gateway: every attempt before it is made, by which name to end it, and what it has cost.

Written on the loop, many entries in one transaction: that takes some 30 µs and waits for no disk, since a killed
process loses nothing that it has handed to the kernel.
"""

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import OUR_NAMES
from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.core.hedging.charges import Charge
from hedgerow_operator.core.hedging.spent import DAY
from hedgerow_operator.gateway.journal_entries import Given, Kept, KeptJob, Loaded, SpentRow
from hedgerow_operator.gateway.journal_file import JournalFile, is_corrupt

_log = logging.getLogger(__name__)
MOST_RECEIPTS = 10_000
_MINUTE = 60.0
# What can wait is written together with what follows.
_LATER_SECONDS = 0.05
# What is to be written as soon as this after the last time is written together: a transaction costs more than a line.
_TOGETHER_SECONDS = 0.002
_RETRY_SECONDS = 1.0
_MOST_WAITING = 200_000
_SWEEP_SECONDS = 2.0
_LARGE_LOG_BYTES, _OLD_LOG_SECONDS = 4 << 20, 60.0
Statement = tuple[str, tuple[object, ...]]
_INSERT = "INSERT OR REPLACE INTO attempts (id, kept, job, why) VALUES (?, ?, ?, ?)"
_NAME = "UPDATE attempts SET job = ? WHERE id = ?"
_JOB = "INSERT OR REPLACE INTO jobs (id, until, entry) VALUES (?, ?, ?)"
_SPEND = (
    "INSERT INTO spent VALUES (?, ?, ?, ?, ?) ON CONFLICT (endpoint, provider, minute, measured) "
    "DO UPDATE SET amount = amount + excluded.amount"
)


class Journal:
    """Used within one loop. errors: how often it could not be written; trouble: why it cannot be now, in a sentence."""

    def __init__(self, path: Path | None) -> None:
        self._file = JournalFile(path)
        self._waiting: list[Statement] = []
        self._open: dict[int, Kept] = {}
        self._names: dict[int, str] = {}
        self._spent: dict[tuple[str, str, int, bool], int] = {}
        self._written: list[asyncio.Future[None]] = []
        self._timer: asyncio.Handle | None = None
        self._soon = self._paused = False
        self._swept_at = self._checked_at = self._flushed_at = 0.0
        self._checkpoint: asyncio.Task[None] | None = None
        self._next = time.time_ns() // 1000
        self.errors, self.trouble = 0, ""

    def open(self) -> Loaded:
        """What an earlier process has left. Raises JournalInUseError, OSError, sqlite3.Error."""
        odd = self._file.open()
        loaded = replace(self._load(), odd=odd)
        self._open = {kept.number: kept for kept in loaded.attempts}
        self._checked_at = time.time()
        return loaded

    def number(self) -> int:
        """Of the next attempt."""
        self._next += 1
        return self._next

    async def begin(self, kept: Kept) -> None:
        """An attempt is about to be made; it is written when this returns. Where that cannot be, it is made all the
        same and written later: a full disk takes no endpoint away.
        """
        self._open[kept.number] = kept
        self._put(_INSERT, kept.number, msgspec.json.encode(kept), kept.job_id, kept.why, urgent=True)
        await self._until_written()

    def named(self, kept: Kept) -> None:
        """The provider calls it so. A name of ours, by which nobody can end it, is written only if it runs on."""
        self._open[kept.number] = kept
        if kept.job_id.startswith(OUR_NAMES):
            self._names[kept.number] = kept.job_id
            self._later()
        else:
            self._put(_NAME, kept.job_id, kept.number, urgent=True)

    def given_up(self, kept: Kept) -> None:
        """It is to be ended."""
        self._open[kept.number] = kept
        self._put("UPDATE attempts SET why = ? WHERE id = ?", kept.why, kept.number)

    def ended(self, kept: Kept, charge: Charge, at: float, given: Given | None = None) -> None:
        """It is known what it has cost, and no more is to be done for it."""
        self._open.pop(kept.number, None)
        self._names.pop(kept.number, None)
        self._put("DELETE FROM attempts WHERE id = ?", kept.number)
        if charge.amount:
            row = (kept.endpoint, kept.provider, int(at // _MINUTE), charge.measured)
            self._spent[row] = self._spent.get(row, 0) + charge.amount
        if given is not None:
            self._put(
                "INSERT OR REPLACE INTO receipts VALUES (?, ?, ?)",
                kept.number,
                kept.endpoint,
                msgspec.json.encode(given),
            )

    async def job_begun(self, job: KeptJob) -> None:
        """Its client is to be given its name; as ``begin``."""
        self._put(_JOB, job.id, job.until, msgspec.json.encode(job), urgent=True)
        await self._until_written()

    def job(self, job: KeptJob) -> None:
        """It has ended; written before anybody can be told of it by a webhook."""
        self._put(_JOB, job.id, job.until, msgspec.json.encode(job), urgent=True)

    def job_forgotten(self, job_id: str) -> None:
        """Nobody can ask for it any more."""
        self._put("DELETE FROM jobs WHERE id = ?", job_id)

    def lease(self, endpoint: str, lease: Limits) -> None:
        """The part of the budget that this gateway may spend."""
        self._put("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", endpoint, lease.hourly, lease.daily)

    def receipts(self, most: int, endpoint: str | None = None) -> list[Given]:
        """The newest first."""
        self.flush()
        with contextlib.suppress(sqlite3.Error):
            return read_receipts(self._file.db, most, endpoint)
        return []

    def flush(self) -> None:
        """Write what waits."""
        if self._paused:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._soon = None, False
        self._flushed_at = time.monotonic()
        batch = self._batch()
        try:
            self._write(batch)
            self.trouble = ""
        except sqlite3.Error as error:
            self._failed(batch, error)
        finally:
            written, self._written = self._written, []
            for future in written:
                if not future.done():
                    future.set_result(None)

    async def close(self) -> None:
        """Write what waits, and let go of the file."""
        if self._checkpoint is not None:
            await asyncio.wait([self._checkpoint])
        self.flush()
        if self._timer is not None:
            self._timer.cancel()
        self._file.close()

    async def _until_written(self) -> None:
        """At once where there is little to write, else with what others have to write in this turn of the loop."""
        if self.trouble:
            return
        if not self._paused and time.monotonic() - self._flushed_at > _TOGETHER_SECONDS:
            self.flush()
            return
        written = asyncio.get_running_loop().create_future()
        self._written.append(written)
        await written

    def _put(self, sql: str, *arguments: object, urgent: bool = False) -> None:
        self._waiting.append((sql, arguments))
        if not urgent or self.trouble:
            self._later()
        elif not self._soon:
            if self._timer is not None:
                self._timer.cancel()
            self._timer, self._soon = asyncio.get_running_loop().call_soon(self.flush), True

    def _later(self) -> None:
        if self._timer is None and not self.trouble:
            self._timer = asyncio.get_running_loop().call_later(_LATER_SECONDS, self.flush)

    def _batch(self) -> list[Statement]:
        """What waits, with the names and the sums since then."""
        batch, self._waiting = self._waiting, []
        batch += [(_NAME, (job_id, number)) for number, job_id in self._names.items()]
        batch += [(_SPEND, (*row, amount)) for row, amount in self._spent.items()]
        self._names, self._spent = {}, {}
        return batch

    def _write(self, batch: list[Statement]) -> None:
        with self._file.db as db:
            for sql, arguments in batch:
                db.execute(sql, arguments)
            if time.time() - self._swept_at > _SWEEP_SECONDS:
                self._sweep(db)

    def _sweep(self, db: sqlite3.Connection) -> None:
        """Its size has bounds, and what was written lately is put in its place."""
        self._swept_at = time.time()
        db.execute("DELETE FROM spent WHERE minute < ?", (int((self._swept_at - DAY) // _MINUTE) - 60,))
        db.execute("DELETE FROM jobs WHERE until < ?", (self._swept_at,))
        newest = "SELECT id FROM receipts ORDER BY id DESC LIMIT 1 OFFSET ?"
        db.execute(f"DELETE FROM receipts WHERE id <= ({newest})", (MOST_RECEIPTS,))  # noqa: S608  (no input in it)
        due = self._swept_at - self._checked_at > _OLD_LOG_SECONDS or self._file.log_bytes > _LARGE_LOG_BYTES
        if due and (self._checkpoint is None or self._checkpoint.done()):
            self._checked_at = self._swept_at
            self._checkpoint = asyncio.get_running_loop().create_task(self._put_in_place())

    async def _put_in_place(self) -> None:
        """Most of it while writing goes on, the rest while it waits for a moment: else the log would never end."""
        await asyncio.to_thread(self._file.checkpoint, whole=False)
        self._paused = True
        try:
            await asyncio.to_thread(self._file.checkpoint, whole=True)
        finally:
            self._paused = False
            self.flush()

    def _failed(self, batch: list[Statement], error: sqlite3.Error) -> None:
        self.errors += 1
        if is_corrupt(error):
            _log.error("%s; what runs is written anew", self._file.replace(str(error)))
            kept = (
                (_INSERT, (one.number, msgspec.json.encode(one), one.job_id, one.why)) for one in self._open.values()
            )
            with contextlib.suppress(sqlite3.Error):
                self._write([*kept, *(one for one in batch if one[0] in (_SPEND, _JOB))])
            return
        if not self.trouble:
            _log.error("the journal cannot be written for now (%s); attempts are made all the same", error)
        self.trouble = f"the journal cannot be written: {error}"
        self._waiting = [*batch, *self._waiting][-_MOST_WAITING:]
        self._timer = asyncio.get_running_loop().call_later(_RETRY_SECONDS, self.flush)

    def _load(self) -> Loaded:
        db, decode = self._file.db, msgspec.json.Decoder(Kept).decode
        attempts = [
            replace(decode(kept), job_id=job, why=why)
            for kept, job, why in db.execute("SELECT kept, job, why FROM attempts ORDER BY id")
        ]
        spent = tuple(
            SpentRow(endpoint, provider, minute * _MINUTE, Charge(amount, bool(measured)))
            for endpoint, provider, minute, measured, amount in db.execute("SELECT * FROM spent ORDER BY minute")
        )
        leases = {name: Limits(hourly, daily) for name, hourly, daily in db.execute("SELECT * FROM leases")}
        read = msgspec.json.Decoder(KeptJob).decode
        jobs = tuple(read(entry) for (entry,) in db.execute("SELECT entry FROM jobs ORDER BY until"))
        return Loaded(attempts=tuple(attempts), spent=spent, leases=leases, jobs=jobs)


def read_receipts(db: sqlite3.Connection, most: int, endpoint: str | None = None) -> list[Given]:
    """The newest first. Raises sqlite3.Error."""
    where, arguments = ("WHERE endpoint = ?", (endpoint, most)) if endpoint else ("", (most,))
    rows = db.execute(f"SELECT entry FROM receipts {where} ORDER BY id DESC LIMIT ?", arguments)  # noqa: S608
    decode: Callable[[bytes], Given] = msgspec.json.Decoder(Given).decode
    return [decode(entry) for (entry,) in rows]
