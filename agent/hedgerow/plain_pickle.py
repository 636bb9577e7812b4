"""Reads pickles of plain values and nothing else: it knows the opcodes for those, and can import or call nothing.

The standard unpickler would have to be talked out of what a hostile pickle can do (call anything, ask for huge tables
and buffers, nest tuples until hashing them overflows the stack); this one has no such abilities. Opcodes as in the
standard library's pickletools. Keys of dictionaries must be texts or integers, so that nothing nested is ever hashed.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, NoReturn, Optional, Tuple

# Roomy for 20,000 entries with a stack trace each; they bound memory to about 1 GB whatever the bytes say.
MAX_BYTES = 256 << 20
MAX_OPERATIONS = 20_000_000
MAX_REMEMBERED = 4_000_000

_GET, _STOP = b"h."
_KEYS = frozenset((str, int))
_UINT32 = struct.Struct("<I").unpack_from
_INT32 = struct.Struct("<i").unpack_from
_UINT16 = struct.Struct("<H").unpack_from
_UINT64 = struct.Struct("<Q").unpack_from
_DOUBLE = struct.Struct(">d").unpack_from


class RefusedPickleError(ValueError):
    """The bytes are no pickle of plain values, or are too many; the message says which."""


def loads(data: bytes) -> Any:
    """The values: dictionaries, lists, tuples, texts, integers, floats, booleans, None. Raises RefusedPickleError."""
    if len(data) > MAX_BYTES:
        raise RefusedPickleError("it is larger than %d MiB" % (MAX_BYTES >> 20))
    try:
        return _Machine(data).run()
    except (IndexError, KeyError, struct.error, UnicodeDecodeError, AttributeError, ValueError) as error:
        if isinstance(error, RefusedPickleError):
            raise
        raise RefusedPickleError("it is cut short or damaged") from None


class _Machine:
    """The stack, the values below each mark, and the memo, as the pickle protocol has them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: List[Any] = []
        self.below: List[List[Any]] = []
        self.memo: Dict[int, Any] = {}

    def run(self) -> Any:
        data, memo, steps = self.data, self.memo, _STEPS
        for _ in range(MAX_OPERATIONS):
            at = self.at
            if data[at] == _GET:  # more than half of all operations
                push = self.stack.append
                while data[at] == _GET:
                    push(memo[data[at + 1]])
                    at += 2
            code = data[at]
            self.at = at + 1
            step = steps[code]
            if step is None:
                if code == _STOP:
                    return self._result()
                raise RefusedPickleError("it holds the opcode %a, which no dump of plain values needs" % chr(code))
            step(self)
        raise RefusedPickleError("it holds more than {:,} operations".format(MAX_OPERATIONS))

    def _result(self) -> Any:
        if len(self.stack) != 1 or self.below:
            _damaged()
        return self.stack[0]

    def take(self, length: int) -> bytes:
        """The next bytes."""
        end = self.at + length
        if length < 0 or end > len(self.data):
            _damaged()
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def skip(self, length: int) -> None:
        """Pass over bytes that mean nothing here."""
        self.at += length

    def number(self, read: Callable[[bytes, int], Tuple[Any, ...]], width: int) -> Any:
        """A number of fixed width."""
        value = read(self.data, self.at)[0]
        self.at += width
        return value

    def remember(self, index: int) -> None:
        """Put the top of the stack into the memo."""
        if len(self.memo) >= MAX_REMEMBERED:
            raise RefusedPickleError("it remembers more than {:,} values".format(MAX_REMEMBERED))
        self.memo[index] = self.stack[-1]

    def since_mark(self) -> List[Any]:
        """What was pushed since the last mark, which is taken off."""
        values, self.stack = self.stack, self.below.pop()
        return values


def _damaged() -> NoReturn:
    raise RefusedPickleError("it is cut short or damaged")


def _mark(machine: _Machine) -> None:
    machine.below.append(machine.stack)
    machine.stack = []


def _byte(machine: _Machine) -> None:
    machine.stack.append(machine.data[machine.at])
    machine.at += 1


def _remember(machine: _Machine) -> None:
    machine.memo[machine.data[machine.at]] = machine.stack[-1]
    machine.at += 1


def _text(machine: _Machine, length: int) -> None:
    machine.stack.append(machine.take(length).decode("utf-8", "surrogatepass"))


def _long(machine: _Machine) -> None:
    start = machine.at + 1
    machine.at = end = start + machine.data[machine.at]
    machine.stack.append(int.from_bytes(machine.data[start:end], "little", signed=True))


def _tuple(machine: _Machine, length: int) -> None:
    values = machine.stack[-length:]
    if len(values) < length:
        _damaged()
    machine.stack[-length:] = [tuple(values)]


def _tuple_since_mark(machine: _Machine) -> None:
    values = tuple(machine.since_mark())
    machine.stack.append(values)


def _set_items(machine: _Machine, pairs: List[Any]) -> None:
    target = machine.stack[-1]
    keys = pairs[::2]
    if type(target) is not dict or len(pairs) % 2:
        _damaged()
    if not _KEYS.issuperset(map(type, keys)):
        raise RefusedPickleError("a dictionary in it has a key that is neither text nor integer")
    target.update(zip(keys, pairs[1::2]))


def _set_item(machine: _Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _set_items(machine, [key, value])


def _append(machine: _Machine, values: List[Any]) -> None:
    if type(machine.stack[-1]) is not list:
        _damaged()
    machine.stack[-1].extend(values)


_Step = Callable[[_Machine], None]
_BY_CODE: Dict[bytes, _Step] = {
    b"\x80": lambda machine: machine.skip(1),  # PROTO
    b"\x95": lambda machine: machine.skip(8),  # FRAME
    b"(": _mark,
    b"}": lambda machine: machine.stack.append({}),
    b"]": lambda machine: machine.stack.append([]),
    b")": lambda machine: machine.stack.append(()),
    b"t": _tuple_since_mark,
    b"\x85": lambda machine: _tuple(machine, 1),
    b"\x86": lambda machine: _tuple(machine, 2),
    b"\x87": lambda machine: _tuple(machine, 3),
    b"u": lambda machine: _set_items(machine, machine.since_mark()),
    b"s": _set_item,
    b"e": lambda machine: _append(machine, machine.since_mark()),
    b"a": lambda machine: _append(machine, [machine.stack.pop()]),
    b"N": lambda machine: machine.stack.append(None),
    b"\x88": lambda machine: machine.stack.append(True),
    b"\x89": lambda machine: machine.stack.append(False),
    b"K": _byte,
    b"M": lambda machine: machine.stack.append(machine.number(_UINT16, 2)),
    b"J": lambda machine: machine.stack.append(machine.number(_INT32, 4)),
    b"\x8a": _long,
    b"G": lambda machine: machine.stack.append(machine.number(_DOUBLE, 8)),
    b"X": lambda machine: _text(machine, machine.number(_UINT32, 4)),
    b"\x8c": lambda machine: _text(machine, machine.take(1)[0]),
    b"\x8d": lambda machine: _text(machine, machine.number(_UINT64, 8)),
    b"q": _remember,
    b"r": lambda machine: machine.remember(machine.number(_UINT32, 4)),
    b"\x94": lambda machine: machine.remember(len(machine.memo)),
    b"j": lambda machine: machine.stack.append(machine.memo[machine.number(_UINT32, 4)]),
}
_STEPS: List[Optional[_Step]] = [_BY_CODE.get(bytes((code,))) for code in range(256)]
