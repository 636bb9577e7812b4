"""MP4 and QuickTime: the boxes that say how large and how long a video is (ISO/IEC 14496-12)."""

import struct
from collections.abc import Iterator

from msgspec import Struct

from hedgerow_operator.core.hedging.validation.film import Film
from hedgerow_operator.core.hedging.validation.seen import Fault

_FIRST = frozenset({b"ftyp", b"styp", b"moov", b"wide"})
_UNKNOWN = (0, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
_MOST_BOXES = 10_000


class _Box(Struct, frozen=True):
    kind: bytes
    start: int
    end: int


def is_mp4(data: bytes) -> bool:
    """By its first box."""
    return data[4:8] in _FIRST


def read_mp4(data: bytes) -> Film:
    """Raises Fault."""
    boxes = list(_boxes(data, 0, len(data)))
    movie = next((box for box in boxes if box.kind == b"moov"), None)
    if movie is None:
        raise Fault("the MP4 does not say what it holds; it is cut off, or was not finished")
    if not any(box.kind == b"mdat" and box.end > box.start for box in boxes):
        raise Fault("the MP4 holds no pictures")
    inside = list(_boxes(data, movie.start, movie.end))
    sizes = [_size(data, box) for box in inside if box.kind == b"trak"]
    width, height = max(sizes, key=lambda size: size[0] * size[1], default=(0, 0))
    header = next((box for box in inside if box.kind == b"mvhd"), None)
    return Film(width=width, height=height, seconds=None if header is None else _seconds(data, header))


def _boxes(data: bytes, start: int, end: int) -> Iterator[_Box]:
    at = start
    for _number in range(_MOST_BOXES):
        if at + 8 > end:
            return
        size, head = int.from_bytes(data[at : at + 4], "big"), 8
        if size == 1:
            size, head = int.from_bytes(data[at + 8 : at + 16], "big"), 16
        elif size == 0:
            size = end - at
        if size < head:
            raise Fault("the MP4 is broken")
        if at + size > end:
            raise Fault("the MP4 is cut off")
        yield _Box(data[at + 4 : at + 8], at + head, at + size)
        at += size


def _seconds(data: bytes, header: _Box) -> float | None:
    """None: the length is not known when a file is written in fragments."""
    wide = data[header.start : header.start + 1] == b"\x01"
    form, at = (">IQ", header.start + 20) if wide else (">II", header.start + 12)
    try:
        scale, length = struct.unpack_from(form, data[: header.end], at)
    except struct.error:
        raise Fault("the MP4 is broken") from None
    return None if not scale or length in _UNKNOWN else length / scale


def _size(data: bytes, track: _Box) -> tuple[int, int]:
    for box in _boxes(data, track.start, track.end):
        if box.kind == b"tkhd" and box.end - box.start >= 84:
            width, height = struct.unpack_from(">II", data, box.end - 8)
            return width >> 16, height >> 16
    return 0, 0
