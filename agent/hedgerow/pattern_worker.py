"""The process that tries a user's log pattern on output: an expression may take for ever, and then it ends itself.

It reads frames (slot, length, bytes) from its standard input and answers each with one line of JSON: the observations.
The first frame is the pattern. A slot is one stream of output; the first frame of a slot begins with a whole line.
"""

from __future__ import annotations

import collections
import json
import os
import resource
import signal
import struct
from typing import OrderedDict, Tuple

from hedgerow.logs.reader import AUTO, AutoReader

HEADER = struct.Struct("=QI")
# Processor time for one frame. The kernel ends this process when it is over, whatever the interpreter is in.
LIMIT_SECONDS = 1.0
_MEMORY_BYTES = 1 << 30
# Streams whose unfinished last line is kept.
_MOST_STREAMS = 1024


def main() -> None:
    """Answer until there is nothing more to read."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    pattern = _frame()[1].decode("utf-8", "surrogatepass")
    readers: "OrderedDict[int, AutoReader]" = collections.OrderedDict()
    while True:
        slot, data = _frame()
        if slot not in readers:
            readers[slot] = AutoReader(AUTO, pattern)
        readers.move_to_end(slot)
        if len(readers) > _MOST_STREAMS:
            readers.popitem(last=False)
        signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
        said = readers[slot].feed(data)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        _write(json.dumps(said).encode() + b"\n")


def _frame() -> Tuple[int, bytes]:
    slot, length = HEADER.unpack(_read(HEADER.size))
    return slot, _read(length)


def _read(length: int) -> bytes:
    data = b""
    while len(data) < length:
        piece = os.read(0, length - len(data))
        if not piece:
            raise SystemExit(0)
        data += piece
    return data


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]
