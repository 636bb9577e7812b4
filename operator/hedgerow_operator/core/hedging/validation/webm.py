"""WebM and Matroska: the elements that say how large and how long a video is (RFC 8794, RFC 9559)."""

import struct
from collections.abc import Iterator

from hedgerow_operator.core.hedging.validation.film import Film
from hedgerow_operator.core.hedging.validation.seen import Fault

_HEAD = b"\x1a\x45\xdf\xa3"
_SEGMENT, _INFO, _TRACKS, _CLUSTER = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675
_SCALE, _DURATION = 0x2AD7B1, 0x4489
_TRACK, _VIDEO, _WIDTH, _HEIGHT = 0xAE, 0xE0, 0xB0, 0xBA
_NANOSECONDS = 1e9
_USUAL_SCALE = 1_000_000
_MOST_ELEMENTS = 100_000


def is_webm(data: bytes) -> bool:
    """By its first element."""
    return data.startswith(_HEAD)


def read_webm(data: bytes) -> Film:
    """Raises Fault."""
    segment = next((span for name, *span in _elements(data, 0, len(data)) if name == _SEGMENT), None)
    if segment is None:
        raise Fault("the WebM does not say what it holds; it is cut off")
    width = height = 0
    seconds, clusters = None, 0
    for name, start, end in _elements(data, *segment):
        if name == _INFO:
            seconds = _seconds(data, start, end)
        elif name == _TRACKS:
            width, height = _size(data, start, end)
        elif name == _CLUSTER:
            clusters += 1
    if not clusters:
        raise Fault("the WebM holds no pictures")
    return Film(width=width, height=height, seconds=seconds)


def _elements(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Name, start and end of each. One of unknown length, as servers that stream write them, goes to the end."""
    at = start
    for _number in range(_MOST_ELEMENTS):
        if at >= end:
            return
        name, at = _number_at(data, at, end, marked=True)
        size, at = _number_at(data, at, end, marked=False)
        if size < 0:
            yield name, at, end
            return
        if at + size > end:
            raise Fault("the WebM is cut off")
        yield name, at, at + size
        at += size


def _number_at(data: bytes, at: int, end: int, *, marked: bool) -> tuple[int, int]:
    """A number of one to eight bytes, as the zeros before its first one say; -1: of unknown size."""
    first = data[at] if at < end else 0
    length = 9 - first.bit_length()
    if not first or at + length > end:
        raise Fault("the WebM is cut off")
    value = int.from_bytes(data[at : at + length], "big")
    if marked:
        return value, at + length
    value &= (1 << 7 * length) - 1
    return (-1 if value == (1 << 7 * length) - 1 else value), at + length


def _seconds(data: bytes, start: int, end: int) -> float | None:
    scale, length = _USUAL_SCALE, None
    for name, first, last in _elements(data, start, end):
        if name == _SCALE:
            scale = int.from_bytes(data[first:last], "big")
        elif name == _DURATION and last - first in (4, 8):
            (length,) = struct.unpack(">f" if last - first == 4 else ">d", data[first:last])
    return None if length is None else float(length) * scale / _NANOSECONDS


def _size(data: bytes, start: int, end: int) -> tuple[int, int]:
    largest = (0, 0)
    for name, first, last in _elements(data, start, end):
        if name != _TRACK:
            continue
        for inner, begin, finish in _elements(data, first, last):
            if inner == _VIDEO:
                found = {each: int.from_bytes(data[a:b], "big") for each, a, b in _elements(data, begin, finish)}
                largest = max(largest, (found.get(_WIDTH, 0), found.get(_HEIGHT, 0)))
    return largest
