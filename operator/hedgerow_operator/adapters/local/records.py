"""What is written down about a placement, so that a controller that was killed finds it again."""

import time
from pathlib import Path

import msgspec
from msgspec import Struct

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.files import read_bytes, write_whole
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.processes import Identity
from hedgerow_operator.reconcile.ports import JobKey, Unreachable


class Record(Struct, frozen=True, kw_only=True):
    """One placement: written before its first process starts, again after each, deleted when it is gone.

    launchers: worker -> the shell around its launcher. created: wall time. asked: CLOCK_BOOTTIME of the moment when
    it was asked to go. Numbers of processes mean nothing in another boot.
    """

    uid: str
    attempt: int
    workers: int
    boot: str
    created: float
    launchers: dict[int, Identity] = {}
    asked: float | None = None


def boottime() -> float:
    """Seconds since boot, suspended time included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def read_record(path: Path) -> Record | None:
    """The record at ``path``, None when there is none."""
    try:
        data = read_bytes(path)
        return None if data is None else msgspec.json.decode(data, type=Record)
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}; give another --state-dir") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StateError(
            f"{path} is not what hedgerow wrote there ({error}); if nothing of that placement runs any more, delete it"
        ) from None


class Records:
    """The records of one state directory. The lock makes this the only writer: each is read once, at the start."""

    def __init__(self, paths: StatePaths) -> None:
        self._paths = paths
        self._held: dict[JobKey, dict[int, Record]] = {}

    def of(self, key: JobKey) -> list[Record]:
        """Every record of a job of this name, by attempt. Raises StateError for one that cannot be read."""
        if key not in self._held:
            found = [read_record(path) for path in self._paths.records(key)]
            self._held[key] = {record.attempt: record for record in found if record is not None}
        return sorted(self._held[key].values(), key=lambda record: record.attempt)

    def write(self, key: JobKey, record: Record) -> None:
        """Store the record. Raises Unreachable when the disk refuses."""
        path = self._paths.record(key, record.attempt)
        try:
            write_record(path, record)
        except OSError as error:
            raise Unreachable(f"{path} cannot be written: {error.strerror}") from None
        self._held.setdefault(key, {})[record.attempt] = record

    def restore(self, key: JobKey) -> bool:
        """Write again what somebody deleted; whether anything was. Raises Unreachable when the disk refuses."""
        lost = [record for record in self.of(key) if not self._paths.record(key, record.attempt).exists()]
        for record in lost:
            self.write(key, record)
        return bool(lost)

    def drop(self, key: JobKey, attempt: int) -> None:
        """Forget a placement that is gone."""
        self._paths.record(key, attempt).unlink(missing_ok=True)
        self._held.get(key, {}).pop(attempt, None)


def write_record(path: Path, record: Record) -> None:
    """Store the record whole."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(record)) + b"\n")
