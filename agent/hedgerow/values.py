"""The table of values in the heartbeat file: the newest number of each name, from the rank to the launcher."""

from __future__ import annotations

import time
from typing import Any, Dict, NamedTuple, Optional

from hedgerow.record import NAME_BYTES, VALUE, VALUE_BYTES, VALUE_LIMIT, VALUES_OFFSET, name_at, packed_name

# Names that begin so are ours: what the hooks measure.
OWN_PREFIX = "hedgerow."


class Value(NamedTuple):
    """A number, and when it was written (CLOCK_MONOTONIC nanoseconds)."""

    number: float
    time_ns: int


class ValueTable:
    """The rank's side of the table in ``buffer``."""

    __slots__ = ("_buffer", "_offsets")

    def __init__(self, buffer: Any) -> None:
        self._buffer = buffer
        self._offsets: Dict[str, int] = {name: _offset(number) for number, name in enumerate(_names(buffer))}

    def note(self, name: str, value: Any) -> None:
        """Write ``value``, if it is a number and the table has room for its name."""
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            return
        offset = self._offsets.get(name)
        if offset is None:
            offset = self._add(name)
        if offset:
            VALUE.pack_into(self._buffer, offset + NAME_BYTES, number, time.monotonic_ns())

    def _add(self, name: str) -> int:
        if not name or len(self._offsets) >= VALUE_LIMIT:
            return 0
        offset = _offset(len(self._offsets))
        self._buffer[offset : offset + NAME_BYTES] = packed_name(name)
        self._offsets[name] = offset
        return offset


def read(buffer: Any) -> Dict[str, Value]:
    """The newest value of each name that has one."""
    found = {
        name: Value(*VALUE.unpack_from(buffer, _offset(at) + NAME_BYTES)) for at, name in enumerate(_names(buffer))
    }
    return {name: value for name, value in found.items() if value.time_ns}


def word(number: float) -> Optional[str]:
    """How a report writes a number that JSON has no form for; None for a finite one."""
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    return None


def _offset(number: int) -> int:
    return VALUES_OFFSET + number * VALUE_BYTES


def _names(buffer: Any) -> Any:
    for number in range(VALUE_LIMIT):
        name = name_at(buffer, _offset(number))
        if not name:
            return
        yield name
