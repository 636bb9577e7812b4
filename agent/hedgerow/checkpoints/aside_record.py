"""What was set aside in a checkpoint directory, in one small file for each time: enough to undo it."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, List

from hedgerow.checkpoints.names import SET_ASIDE
from hedgerow.checkpoints.replace import write_file
from hedgerow.checkpoints.trackers import Tracker
from hedgerow.regular_file import open_regular

PREFIX = ".hedgerow-aside-"
_SUFFIX = ".json"
_VERSION = 1


@dataclasses.dataclass(frozen=True)
class Move:
    """Something that was renamed, and why. Names are of entries of the directory.

    size, mtime_ns: of the entry, by which it is known again.
    """

    name: str
    aside: str
    reason: str = ""
    size: int = 0
    mtime_ns: int = 0


@dataclasses.dataclass(frozen=True)
class Naming:
    """A tracker before and after."""

    before: Tracker
    after: Tracker


@dataclasses.dataclass(frozen=True)
class Record:
    """One time. Written before anything is done, so that every part of it may have been done or not."""

    name: str
    time: float
    moves: List[Move]
    namings: List[Naming]


def write(directory: str, record: Record) -> None:
    """Write it, wholly or not at all. Raises OSError."""
    fields = {
        "version": _VERSION,
        "time": record.time,
        "moves": [dataclasses.asdict(move) for move in record.moves],
        "namings": [[list(naming.before), list(naming.after)] for naming in record.namings],
    }
    write_file(os.path.join(directory, record.name), json.dumps(fields, indent=1) + "\n")


def remove(directory: str, record: Record) -> None:
    """Forget it. Raises OSError."""
    os.unlink(os.path.join(directory, record.name))


def is_record(name: str) -> bool:
    """Whether an entry of this name is one."""
    return name.startswith(PREFIX) and name.endswith(_SUFFIX)


def read_all(directory: str) -> List[Record]:
    """All records in ``directory``, the newest first. Raises OSError, and ValueError for one that is not ours."""
    names = [name for name in os.listdir(directory) if is_record(name)]
    return sorted((read(directory, name) for name in names), key=lambda record: record.time, reverse=True)


def name_of(attempt: int, worker: int, time: float) -> str:
    """The name of a record that no other launcher writes."""
    return "%s%d-%d-%d%s" % (PREFIX, attempt, worker, int(time * 1000), _SUFFIX)


def read(directory: str, name: str) -> Record:
    """One record. Raises OSError, and ValueError when it is not ours."""
    try:
        with open_regular(os.path.join(directory, name)) as file:
            fields = json.loads(file.read().decode("utf-8"))
        if fields["version"] != _VERSION:
            raise ValueError
        moves = [Move(**entry) for entry in fields["moves"]]
        namings = [Naming(_tracker(before), _tracker(after)) for before, after in fields["namings"]]
        record = Record(name, float(fields["time"]), moves, namings)
        _check(record)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError("%s in it is no record of this version of Hedgerow; remove it" % name) from None
    return record


def _tracker(entry: Any) -> Tracker:
    name, content, is_link = entry
    return Tracker(str(name), str(content), bool(is_link))


def _check(record: Record) -> None:
    """A record names entries of its directory and nothing else, whoever wrote it."""
    names = [name for move in record.moves for name in (move.name, move.aside)]
    names += [naming.before.name for naming in record.namings] + [naming.after.name for naming in record.namings]
    if any(not name or "/" in name or "\0" in name or name in (".", "..") for name in names):
        raise ValueError
    if any(not move.aside.endswith(SET_ASIDE) for move in record.moves):
        raise ValueError
