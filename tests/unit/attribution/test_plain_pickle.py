"""Dumps are pickles written by others: plain values come back, and nothing else can happen."""

import os
import pickle
import pickletools
import struct
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import plain_pickle
from hedgerow.plain_pickle import RefusedPickleError, loads

SCALARS = st.none() | st.booleans() | st.integers(-(2**200), 2**200) | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@given(VALUES, st.integers(2, 5))
def test_plain_values_come_back_as_they_were(value: Any, protocol: int) -> None:
    assert loads(pickle.dumps(value, protocol)) == value


class Calls:
    """Would create a file if it were unpickled."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


HOSTILE = {
    "a call of a function": lambda path: pickle.dumps(Calls(os.mkdir, path)),
    "a call of a function, hidden in an entry": lambda path: pickle.dumps({"entries": [Calls(os.mkdir, path)]}),
    "a call of a function, protocol 0": lambda path: pickle.dumps(Calls(os.mkdir, path), 0),
    "a class that exists": lambda _: pickle.dumps(Calls),
    "a class by stack": lambda _: b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
    "a persistent reference": lambda _: b"\x80\x02X\x01\x00\x00\x00aQ.",
    "an extension code": lambda _: b"\x80\x02\x82\x01.",
    "a huge byte array": lambda _: b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b".",
    "a buffer from outside": lambda _: b"\x80\x05\x97.",
    "a number of many digits": lambda _: b"I" + b"9" * 100_000 + b"\n.",
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_refused_and_not_executed_is(make: Any, tmp_path: Any) -> None:
    trap = tmp_path / "executed"

    with pytest.raises(RefusedPickleError, match="opcode"):
        loads(make(str(trap)))

    assert not trap.exists()


DAMAGED = {
    "nothing": b"",
    "no end": b"\x80\x02}",
    "an end with nothing": b"\x80\x02.",
    "more than one value": b"\x80\x02NN.",
    "an open mark": b"\x80\x02(N.",
    "a text longer than the file": b"\x80\x02X\xff\xff\xff\x7fabc.",
    "a text of 2^63 bytes": b"\x80\x04\x8d" + struct.pack("<Q", 1 << 63) + b".",
    "a text that is not UTF-8": b"\x80\x02X\x01\x00\x00\x00\xff.",
    "a value that was never remembered": b"\x80\x02h\x05.",
    "a key without a value": b"\x80\x02}(Nu.",
    "items for a list": b"\x80\x02](K\x01K\x02u.",
    "values for a dictionary": b"\x80\x02}(K\x01e.",
    "a tuple of nothing": b"\x80\x02\x86.",
    "a pop of nothing": b"\x80\x02a.",
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_damaged_is(data: bytes) -> None:
    with pytest.raises(RefusedPickleError, match="cut short or damaged"):
        loads(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_values_or_are_refused(data: bytes) -> None:
    with suppress(RefusedPickleError):
        loads(b"\x80\x02" + data)


def test_a_memo_index_of_four_billion_takes_no_memory() -> None:
    assert loads(b"\x80\x02Nr\xff\xff\xff\xff.") is None


def test_a_million_nested_lists_are_harmless() -> None:
    value = loads(b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999 + b".")

    assert type(value) is list
    del value


def test_nothing_nested_is_ever_hashed() -> None:
    doubled = b"\x80\x04)\x94" + b"h\x00\x86\x94" * 60
    with pytest.raises(RefusedPickleError, match=r"neither text nor integer|damaged"):
        loads(b"\x80\x04})" + b"\x85" * 100_000 + b"Ns.")
    with pytest.raises(RefusedPickleError):
        loads(doubled)


def test_what_remembers_too_much_or_works_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_pickle, "MAX_REMEMBERED", 10)
    with pytest.raises(RefusedPickleError, match="remembers more"):
        loads(b"\x80\x04" + b"N\x94" * 11 + b".")
    monkeypatch.setattr(plain_pickle, "MAX_OPERATIONS", 10)
    with pytest.raises(RefusedPickleError, match="more than 10 operations"):
        loads(b"\x80\x02" + b"N" * 20 + b".")
    monkeypatch.setattr(plain_pickle, "MAX_BYTES", 10)
    with pytest.raises(RefusedPickleError, match="larger than"):
        loads(b"\x80\x02" + b"N" * 20 + b".")


def test_no_opcode_that_it_knows_imports_or_calls_anything() -> None:
    known = {opcode.name for opcode in pickletools.opcodes if plain_pickle._STEPS[ord(opcode.code)] is not None}

    assert not known & {"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1",
                        "EXT2", "EXT4", "PERSID", "BINPERSID", "NEXT_BUFFER"}  # fmt: skip
