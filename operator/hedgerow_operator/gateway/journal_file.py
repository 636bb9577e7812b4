"""The file of the journal: one process at a time, opened whole or moved aside, checkpointed beside the loop."""

import contextlib
import fcntl
import os
import sqlite3
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempts (id INTEGER PRIMARY KEY, kept BLOB NOT NULL, job TEXT NOT NULL DEFAULT '',
  why TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS receipts (id INTEGER PRIMARY KEY, endpoint TEXT NOT NULL, entry BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS receipts_of ON receipts (endpoint, id);
CREATE TABLE IF NOT EXISTS spent (endpoint TEXT, provider TEXT, minute INTEGER, measured INTEGER, amount INTEGER,
  PRIMARY KEY (endpoint, provider, minute, measured)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, until REAL NOT NULL, entry BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS jobs_until ON jobs (until);
CREATE TABLE IF NOT EXISTS leases (endpoint TEXT PRIMARY KEY, hourly INTEGER, daily INTEGER);
"""
_VERSION = 1
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_MOST_LOG_BYTES = 8 << 20
_BROKEN = ".broken"


class JournalInUseError(Exception):
    """Another process has it; the message is a sentence."""


class JournalFile:
    """path: None: kept in memory, for a gateway without a volume, and for tests."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock: int | None = None
        self.db = sqlite3.connect(":memory:")

    def open(self) -> str:
        """What is odd about it, in a sentence; empty: nothing. Raises JournalInUseError, OSError, sqlite3.Error."""
        if self.path is None:
            self.db.executescript(_SCHEMA)
            return ""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._take_lock(self.path)
        try:
            self.db = _opened(self.path)
        except sqlite3.DatabaseError as error:
            if not is_corrupt(error):
                raise
            lost = "what was spent before counts no more, and what an earlier process left running is not ended"
            return f"{self.replace(str(error))}; {lost}"
        return ""

    def replace(self, why: str) -> str:
        """Begin anew, and keep what cannot be read beside it."""
        if self.path is None:
            self.db = sqlite3.connect(":memory:")
            self.db.executescript(_SCHEMA)
            return why
        with contextlib.suppress(sqlite3.Error):
            self.db.close()
        aside = self.path.with_name(self.path.name + _BROKEN)
        os.replace(self.path, aside)
        for ending in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(f"{self.path}{ending}")
        self.db = _opened(self.path)
        return f"the journal {self.path} cannot be read ({why}) and was moved to {aside}"

    @property
    def log_bytes(self) -> int:
        """What was written since the last checkpoint."""
        if self.path is None:
            return 0
        try:
            return os.stat(f"{self.path}-wal").st_size
        except OSError:
            return 0

    def checkpoint(self, *, whole: bool) -> None:
        """Put what was written lately in its place. whole: nothing is written meanwhile, so that the log can begin
        anew. Called in a thread of its own: it waits for the disk.
        """
        if self.path is None:
            return
        # Somebody who reads keeps the log from beginning anew; that is not waited for.
        how = "TRUNCATE" if whole else "PASSIVE"
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(self.path, timeout=0.05)) as db:
            db.execute(f"PRAGMA wal_checkpoint({how})")

    def close(self) -> None:
        """Another process may have it."""
        with contextlib.suppress(sqlite3.Error):
            self.db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take_lock(self, path: Path) -> None:
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise JournalInUseError(
                f"another gateway uses {path}; give each gateway a directory of its own (a StatefulSet does)"
            ) from None
        self._lock = lock


def is_corrupt(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, so that trying again is no use."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and (code & 0xFF) in _CORRUPT


def _opened(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    db = sqlite3.connect(path, timeout=5.0)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        # A process that is killed loses nothing by it; a machine that loses its power, what came last.
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute(f"PRAGMA journal_size_limit={_MOST_LOG_BYTES}")
        found = db.execute("PRAGMA quick_check(1)").fetchone()
        if found[0] != "ok":
            raise _broken(str(found[0]))
        db.executescript(_SCHEMA)
        db.execute(f"PRAGMA user_version={_VERSION}")
    except BaseException:
        db.close()
        raise
    return db


def _broken(why: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(why)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error
