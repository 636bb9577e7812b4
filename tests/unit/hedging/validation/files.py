"""Sounds, images and videos as models answer by them, made by hand."""

import functools
import io
import math
import struct
from array import array

from PIL import Image


def wav(
    seconds: float = 1.0, *, level: float = 0.5, channels: int = 1, bits: int = 16, rate: int = 8000, real: bool = False
) -> bytes:
    """A tone. real: in floating point. level above 1 is clipped."""
    count = int(seconds * rate) * channels
    sound = _tone(count, level, bits, real)
    return wav_of(sound, channels=channels, bits=bits, rate=rate, kind=3 if real else 1)


@functools.cache
def _tone(count: int, level: float, bits: int, real: bool) -> bytes:
    return _coded((max(-1.0, min(1.0, level * math.sin(number / 5))) for number in range(count)), bits, real)


def wav_of(sound: bytes, *, channels: int = 1, bits: int = 16, rate: int = 8000, kind: int = 1) -> bytes:
    form = struct.pack("<HHIIHH", kind, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    body = b"WAVE" + _chunk(b"LIST", b"odd") + _chunk(b"fmt ", form) + _chunk(b"data", sound)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def extensible(data: bytes, kind: int = 1) -> bytes:
    """The same with the longer kind of header."""
    at = data.index(b"fmt ") + 8
    form = struct.pack("<H", 0xFFFE) + data[at + 2 : at + 16] + struct.pack("<HHIH", 22, 16, 4, kind) + b"\x00" * 14
    chunks = _chunk(b"fmt ", form) + data[at + 16 :]
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\x00" * (len(body) % 2)


def _coded(tone: object, bits: int, real: bool) -> bytes:
    if real:
        return array("f" if bits == 32 else "d", tone).tobytes()  # type: ignore[call-overload]
    top = (1 << bits - 1) - 1
    if bits == 8:
        return bytes(int(value * 127) + 128 for value in tone)  # type: ignore[attr-defined]
    if bits in (16, 32):
        return array("h" if bits == 16 else "i", [int(value * top) for value in tone]).tobytes()  # type: ignore[attr-defined]
    return b"".join(int(value * top).to_bytes(bits // 8, "little", signed=True) for value in tone)  # type: ignore[attr-defined]


def image(form: str = "PNG", size: tuple[int, int] = (64, 48), *, blank: bool = False, mode: str = "RGB") -> bytes:
    picture = Image.new(mode, size, 0 if mode == "L" else (0, 0, 0) if mode == "RGB" else (9, 9, 9, 0))
    if not blank:
        picture.paste(255 if mode == "L" else (200, 30, 90), (5, 5, 30, 30))
    out = io.BytesIO()
    picture.save(out, form)
    return out.getvalue()


def box(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I", len(body) + 8) + kind + body


def mp4(seconds: float = 5.0, size: tuple[int, int] = (640, 360), *, wide: bool = False) -> bytes:
    """ISO/IEC 14496-12: mvhd in version 0 or 1, one track with a picture and one without."""
    if wide:
        head = struct.pack(">B3xQQIQ", 1, 0, 0, 1000, int(seconds * 1000)) + bytes(80)
    else:
        head = struct.pack(">B3xIIII", 0, 0, 0, 1000, int(seconds * 1000)) + bytes(80)
    film = box(b"moov", box(b"mvhd", head), _track(0, 0), _track(*size), box(b"udta"))
    return box(b"ftyp", b"isom\0\0\2\0isommp41") + film + box(b"mdat", b"\x01" * 500)


def _track(width: int, height: int) -> bytes:
    return box(b"trak", box(b"tkhd", bytes(76) + struct.pack(">II", width << 16, height << 16)), box(b"mdia"))


def element(name: int, body: bytes, *, unknown: bool = False) -> bytes:
    coded = name.to_bytes((name.bit_length() + 7) // 8, "big")
    return coded + (b"\x01" + b"\xff" * 7 if unknown else _size(len(body))) + body


def _size(length: int) -> bytes:
    return (length | 1 << 28).to_bytes(4, "big")


def webm(seconds: float | None = 5.0, size: tuple[int, int] = (640, 360), *, unknown: bool = False) -> bytes:
    """RFC 9559. unknown: as it is written by a server that streams."""
    info = element(0x2AD7B1, (1_000_000).to_bytes(3, "big"))
    if seconds is not None:
        info += element(0x4489, struct.pack(">d", seconds * 1000))
    picture = element(0xE0, element(0xB0, size[0].to_bytes(2, "big")) + element(0xBA, size[1].to_bytes(2, "big")))
    tracks = element(0x1654AE6B, element(0xAE, element(0xD7, b"\x01") + picture))
    cluster = element(0x1F43B675, element(0xE7, b"\x00") + element(0xA3, b"\x81" + bytes(200)), unknown=unknown)
    head = element(0x1A45DFA3, element(0x4282, b"webm"))
    return head + element(0x18538067, element(0x1549A966, info) + tracks + cluster, unknown=unknown)
