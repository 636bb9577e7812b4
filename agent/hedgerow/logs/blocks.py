"""Cuts a stream of bytes into blocks of whole lines, in bounded memory."""

from __future__ import annotations

from typing import Iterator, Tuple

# A longer line is garbage or a dump; what is beyond is dropped up to the next line end.
LONGEST_LINE = 64 * 1024
_BLOCK = 256 * 1024


class Blocks:
    """Keeps the unfinished last line between calls. Carriage returns end a line, as progress bars write them."""

    def __init__(self) -> None:
        self._rest = b""
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Blocks of whole lines, each ended by a line end."""
        for start in range(0, len(data), _BLOCK):
            block = self._add(data[start: start + _BLOCK])
            if block:
                yield block

    def finish(self) -> bytes:
        """The last line, that was never ended; empty when there is none."""
        rest, self._rest = self._rest, b""
        return b"" if self._dropping or not rest else _ended(rest)

    def _add(self, piece: bytes) -> bytes:
        if self._dropping:
            at = _line_end(piece)
            if at < 0:
                return b""
            piece, self._dropping = piece[at + 1:], False
        data = self._rest + piece if self._rest else piece
        block, self._rest = _cut(data)
        if len(self._rest) > LONGEST_LINE:
            block += self._rest[:LONGEST_LINE] + b"\n"
            self._rest, self._dropping = b"", True
        return _ended(block) if block else b""


def _cut(data: bytes) -> Tuple[bytes, bytes]:
    at = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    return data[:at], data[at:]


def _line_end(data: bytes) -> int:
    ends = [at for at in (data.find(b"\n"), data.find(b"\r")) if at >= 0]
    return min(ends) if ends else -1


def _ended(block: bytes) -> bytes:
    if b"\r" in block:
        block = block.replace(b"\r", b"\n")
    return block if block.endswith(b"\n") else block + b"\n"
