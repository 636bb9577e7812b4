"""The heartbeat file, which a rank maps: its layout, and how the launcher reads what is written into it without locks.

Bytes 0-63 are the header (magic, count of boundaries, pid of the writer), then a table of phase names, then a ring
of the newest boundaries, then a table of values (module ``values``). The count is the sequence lock: a writer fills
the ring slot first and raises the count last; a reader takes the count before and after, and drops what may have been
overwritten in between. Each entry carries its own number, so that a torn one is recognised.
"""

from __future__ import annotations

import os
import struct
from typing import Any, List, NamedTuple, Optional

from hedgerow.regular_file import open_raw

MAGIC = b"HGHEART2"
COUNT = struct.Struct("=Q")
COUNT_OFFSET = 8
PID = struct.Struct("=I")
PID_OFFSET = 16
NAME_BYTES = 32
NAME_LIMIT = 64
NAMES_OFFSET = 64
RING_OFFSET = NAMES_OFFSET + NAME_BYTES * NAME_LIMIT
RING_LENGTH = 256
ENTRY = struct.Struct("=QqqII")  # number, CLOCK_MONOTONIC nanoseconds, step, phase, source
VALUE = struct.Struct("=dQ")  # value, CLOCK_MONOTONIC nanoseconds; a name is in front of each
VALUE_BYTES = NAME_BYTES + VALUE.size
VALUE_LIMIT = 32
VALUES_OFFSET = RING_OFFSET + RING_LENGTH * ENTRY.size
SIZE = VALUES_OFFSET + VALUE_LIMIT * VALUE_BYTES
NO_STEP = -(2**63)
SOURCE_NAMES = {1: "Library", 2: "Torch"}
SOURCE_LIBRARY = 1
SOURCE_TORCH = 2


class Boundary(NamedTuple):
    """One progress boundary: its number (from 0), when (CLOCK_MONOTONIC nanoseconds), and what began then."""

    number: int
    time_ns: int
    step: Optional[int]
    phase: str
    source: Optional[str]


class Reading(NamedTuple):
    """What the file said: boundaries so far, the writer's pid, and the newest boundaries that are still in the ring."""

    total: int
    pid: Optional[int]
    boundaries: List[Boundary]


def create(path: str) -> None:
    """Write an empty heartbeat file for one rank of one attempt."""
    with open(path, "wb") as file:
        file.write(MAGIC.ljust(SIZE, b"\0"))


class Copy(NamedTuple):
    """What the file held, and the count of boundaries just after it was copied."""

    buffer: bytes
    count_after: int


class RecordFile:
    """The file as its launcher reads it: by copies. A map would kill the launcher when a rank cuts the file short."""

    def __init__(self, path: str) -> None:
        self._file = open_raw(path)

    def copy(self) -> Optional[Copy]:
        """What it holds now; None when it has been cut short."""
        buffer = os.pread(self._file.fileno(), SIZE, 0)
        count = os.pread(self._file.fileno(), COUNT.size, COUNT_OFFSET)
        if len(buffer) < SIZE or len(count) < COUNT.size:
            return None
        return Copy(buffer, COUNT.unpack(count)[0])

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def read(buffer: Any, seen: int, count_after: Optional[int] = None) -> Reading:
    """The boundaries numbered ``seen`` and above that the ring still holds, oldest first.

    count_after: of a copy; None for a buffer that the writer itself writes into.
    """
    before = COUNT.unpack_from(buffer, COUNT_OFFSET)[0]
    pid = PID.unpack_from(buffer, PID_OFFSET)[0] or None
    # The slot after the newest may be half-written at any time: it is never trusted.
    first = max(seen, before - RING_LENGTH + 1, 0)
    entries = [_entry(buffer, number) for number in range(first, before)]
    after = COUNT.unpack_from(buffer, COUNT_OFFSET)[0] if count_after is None else count_after
    intact = [e for e in entries if e is not None and e.number > after - RING_LENGTH]
    return Reading(before, pid, intact)


def packed_name(name: str) -> bytes:
    """A name as the tables hold it; a cut in the middle of a character is dropped, so that it stays readable."""
    return name.encode("utf-8")[: NAME_BYTES - 1].decode("utf-8", "ignore").encode("utf-8").ljust(NAME_BYTES, b"\0")


def name_at(buffer: Any, offset: int) -> str:
    """The name in a table at ``offset``; empty where there is none yet."""
    return bytes(buffer[offset : offset + NAME_BYTES]).split(b"\0", 1)[0].decode("utf-8", "replace")


def phase_names(buffer: Any) -> List[str]:
    """The names of phases so far, in the order of their numbers."""
    names = []
    for number in range(NAME_LIMIT):
        name = _name(buffer, number)
        if not name:
            break
        names.append(name)
    return names


def _entry(buffer: Any, wanted: int) -> Optional[Boundary]:
    offset = RING_OFFSET + (wanted % RING_LENGTH) * ENTRY.size
    number, time_ns, step, phase, source = ENTRY.unpack_from(buffer, offset)
    if number != wanted:
        return None
    return Boundary(number, time_ns, None if step == NO_STEP else step, _name(buffer, phase), SOURCE_NAMES.get(source))


def _name(buffer: Any, phase: int) -> str:
    return name_at(buffer, NAMES_OFFSET + (phase % NAME_LIMIT) * NAME_BYTES)
