"""What is written down about a placement, so that a controller that was killed finds it again."""

import time
from pathlib import Path

import msgspec
from msgspec import Struct

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.processes import Identity


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
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise StateError(
            f"{path} is not what hedgerow wrote there ({error}); if nothing of that placement runs any more, delete it"
        ) from None


def write_record(path: Path, record: Record) -> None:
    """Store the record whole."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(record)) + b"\n")
