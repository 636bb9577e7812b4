"""WAV: whether it is whole, sounds, and is as long as it should be.

Python's ``wave`` reads whole numbers only; models write floating point as well, which is where NaN comes from.
"""

import math
import struct
import sys
from array import array
from collections.abc import Iterator
from operator import mul

from msgspec import Struct

from hedgerow_operator.core.hedging.validation.seen import Fault

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_CODES = {(_PCM, 16): "h", (_PCM, 32): "i", (_FLOAT, 32): "f", (_FLOAT, 64): "d"}
# A server that streams does not know how long it will be.
_OPEN_SIZES = (0, 0xFFFFFFFF, 0x7FFFFFFF)
_MOST_CHANNELS = 2
# So many samples are looked at, evenly over the whole: more take seconds.
_MOST_SAMPLES = 4_000_000


class WavRule(Struct, frozen=True, kw_only=True):
    """Defaults as GPUHedge's validator has them. rms and clipped as shares of full scale and of all samples."""

    min_seconds: float = 0.5
    max_seconds: float = 120.0
    min_rms: float = 1e-4
    max_clipped: float = 0.01


class _Form(Struct, frozen=True):
    kind: int
    channels: int
    rate: int
    bits: int

    @property
    def frame(self) -> int:
        return self.channels * self.bits // 8


def check_wav(data: bytes, rule: WavRule) -> None:
    """Raises Fault."""
    form, sound = _parts(data)
    if not 1 <= form.channels <= _MOST_CHANNELS:
        raise Fault(f"the WAV has {form.channels} channels, not 1 or 2")
    if not form.rate:
        raise Fault("the WAV has no sample rate")
    seconds = len(sound) // form.frame / form.rate
    if seconds < rule.min_seconds:
        raise Fault(f"the WAV is {seconds:.2f} s long, less than {rule.min_seconds:g} s")
    if seconds > rule.max_seconds:
        raise Fault(f"the WAV is {seconds:.2f} s long, more than {rule.max_seconds:g} s")
    _check_sound(form, sound, rule)


def _check_sound(form: _Form, sound: bytes, rule: WavRule) -> None:
    samples, full = _samples(form, sound)
    if not len(samples):
        raise Fault("the WAV holds no sound")
    power = sum(map(mul, samples, samples)) / len(samples)
    if not math.isfinite(power):
        raise Fault("the WAV holds samples that are no numbers")
    rms = math.sqrt(power) / full
    if rms < rule.min_rms:
        raise Fault(f"the WAV is silent (rms {rms:.1e}, less than {rule.min_rms:g})")
    clipped = _clipped(form, samples, full) / len(samples)
    if clipped > rule.max_clipped:
        raise Fault(f"{clipped:.1%} of the WAV is clipped, more than {rule.max_clipped:.0%}")


def _clipped(form: _Form, samples: "array[float] | array[int]", full: float) -> int:
    if form.kind == _FLOAT:
        return sum(map((1.0).__le__, map(abs, samples)))
    return samples.count(int(full) - 1) + samples.count(-int(full))


def _samples(form: _Form, sound: bytes) -> tuple["array[float] | array[int]", float]:
    """Those that are looked at, and what full scale is."""
    if form.bits == 8 and form.kind == _PCM:
        samples = array("h", (value - 128 for value in sound[:_MOST_SAMPLES]))
        return samples, 128.0
    if form.bits == 24 and form.kind == _PCM:
        return _of_24_bits(sound), float(1 << 23)
    code = _CODES.get((form.kind, form.bits))
    if code is None:
        raise Fault(f"the WAV is of a kind that is not known here (format {form.kind}, {form.bits} bits)")
    found: array[float] | array[int] = array(code)
    found.frombytes(sound[: len(sound) // found.itemsize * found.itemsize])
    if sys.byteorder == "big":
        found.byteswap()
    # An odd step, so that both channels are heard.
    step = len(found) // _MOST_SAMPLES + 1
    return found[:: step + (step + 1) % 2] if step > 1 else found, 1.0 if form.kind == _FLOAT else float(
        1 << form.bits - 1
    )


def _of_24_bits(sound: bytes) -> "array[int]":
    """The upper three bytes of a number of four, then shifted back."""
    frames = len(sound) // 3
    wide = bytearray(frames * 4)
    for place in range(3):
        wide[place + 1 :: 4] = sound[place : frames * 3 : 3]
    found = array("i")
    found.frombytes(bytes(wide))
    if sys.byteorder == "big":
        found.byteswap()
    step = len(found) // _MOST_SAMPLES + 1
    return array("i", (value >> 8 for value in found[:: step + (step + 1) % 2]))


def _parts(data: bytes) -> tuple[_Form, bytes]:
    """The format and the sound itself. Raises Fault."""
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise Fault("it is no WAV")
    form: _Form | None = None
    for name, start, size in _chunks(data):
        if name == b"fmt ":
            form = _form(data[start : start + size])
        if name == b"data":
            if form is None:
                raise Fault("the WAV does not say of what kind it is")
            if size not in _OPEN_SIZES and start + size > len(data):
                raise Fault("the WAV is cut off")
            return form, data[start:] if size in _OPEN_SIZES else data[start : start + size]
    raise Fault("the WAV holds no sound")


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    at = 12
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        yield data[at : at + 4], at + 8, size
        at += 8 + size + size % 2


def _form(chunk: bytes) -> _Form:
    if len(chunk) < 16:
        raise Fault("the WAV does not say of what kind it is")
    kind, channels, rate, _bytes, _align, bits = struct.unpack("<HHIIHH", chunk[:16])
    if kind == _EXTENSIBLE and len(chunk) >= 26:
        kind = int.from_bytes(chunk[24:26], "little")
    if kind not in (_PCM, _FLOAT) or bits % 8 or not bits:
        raise Fault(f"the WAV is of a kind that is not known here (format {kind}, {bits} bits)")
    return _Form(kind, channels, rate, bits)
