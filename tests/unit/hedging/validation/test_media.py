"""Sounds, images and videos: whole ones pass, and each way in which a model fails has its sentence."""

import struct
from array import array

import pytest

from hedgerow_operator.core.hedging.validation.image import ImageRule, check_image
from hedgerow_operator.core.hedging.validation.seen import Fault
from hedgerow_operator.core.hedging.validation.video import VideoRule, check_video
from hedgerow_operator.core.hedging.validation.wav import WavRule, check_wav
from tests.unit.hedging.validation.files import box, extensible, image, mp4, wav, wav_of, webm


def fault_of_wav(data: bytes, **rule: float) -> str:
    try:
        check_wav(data, WavRule(**rule))
    except Fault as fault:
        return str(fault)
    return ""


def fault_of_image(data: bytes, **rule: int) -> str:
    try:
        check_image(data, ImageRule(**rule))
    except Fault as fault:
        return str(fault)
    return ""


def fault_of_video(data: bytes, **rule: float) -> str:
    try:
        check_video(data, VideoRule(**rule))  # type: ignore[arg-type]
    except Fault as fault:
        return str(fault)
    return ""


SOUNDS = {
    "8 bits": wav(bits=8),
    "16 bits": wav(),
    "24 bits": wav(bits=24),
    "32 bits": wav(bits=32),
    "floating point": wav(bits=32, real=True),
    "double": wav(bits=64, real=True),
    "stereo": wav(channels=2),
    "the longer header": extensible(wav()),
    "floating point in the longer header": extensible(wav(bits=32, real=True), kind=3),
    "streamed, so that its length is not known": wav().replace(b"data\x80\x3e\x00\x00", b"data\xff\xff\xff\xff"),
}
BAD_SOUNDS = {
    "an error page": (b"<html>502</html>", "it is no WAV"),
    "nothing": (b"", "it is no WAV"),
    "a header alone": (wav()[:60], "the WAV is cut off"),
    "cut in the middle": (wav()[:9000], "the WAV is cut off"),
    "too short": (wav(0.2), "the WAV is 0.20 s long, less than 0.5 s"),
    "too long": (wav(121, rate=1000), "the WAV is 121.00 s long, more than 120 s"),
    "silence": (wav(level=0.0), "the WAV is silent (rms 0.0e+00, less than 0.0001)"),
    "clipped": (wav(level=5.0), "% of the WAV is clipped, more than 1%"),
    "clipped in floating point": (wav(level=5.0, bits=32, real=True), "% of the WAV is clipped, more than 1%"),
    "not a number": (
        wav_of(array("f", [0.1, float("nan")] * 8000).tobytes(), bits=32, kind=3),
        "the WAV holds samples that are no numbers",
    ),
    "six channels": (wav(channels=6), "the WAV has 6 channels, not 1 or 2"),
    "a coding that is not known": (wav_of(bytes(9000), kind=7, bits=8), "the WAV is of a kind that is not known here"),
    "no rate": (wav_of(bytes(9000), rate=0), "the WAV has no sample rate"),
}


@pytest.mark.parametrize("name", SOUNDS)
def test_a_whole_sound_passes(name: str) -> None:
    assert fault_of_wav(SOUNDS[name]) == ""


@pytest.mark.parametrize("name", BAD_SOUNDS)
def test_a_bad_sound_is_told(name: str) -> None:
    data, told = BAD_SOUNDS[name]
    assert told in fault_of_wav(data)


def test_a_long_sound_is_looked_at_all_over() -> None:
    quiet = array("h", [0] * 8_000_000) + array("h", [9000, -9000] * 500_000)
    assert fault_of_wav(wav_of(quiet.tobytes(), rate=90_000)) == ""


IMAGES = {form: image(form) for form in ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")}
BAD_IMAGES = {
    "an error page": (b"<html>502</html>", "the image cannot be decoded"),
    "cut off": (image("JPEG", (640, 480))[:600], "the image cannot be decoded"),
    "black": (image(blank=True), "the image is blank"),
    "black as JPEG": (image("JPEG", blank=True), "the image is blank"),
    "grey": (image(blank=True, mode="L"), "the image is blank"),
    "transparent": (image(blank=True, mode="RGBA"), "the image is transparent all over"),
    "a bomb": (
        image()[:16] + struct.pack(">II", 60_000, 60_000) + image()[24:],
        "the image",
    ),
}


@pytest.mark.parametrize("form", IMAGES)
def test_a_whole_image_passes(form: str) -> None:
    assert fault_of_image(IMAGES[form]) == ""


@pytest.mark.parametrize("name", BAD_IMAGES)
def test_a_bad_image_is_told(name: str) -> None:
    data, told = BAD_IMAGES[name]
    assert told in fault_of_image(data)


def test_an_image_that_would_unfold_to_gigabytes_is_never_unfolded() -> None:
    flat = image("PNG", (9000, 9000), blank=True)
    assert len(flat) < 1_000_000
    assert fault_of_image(flat) == "the image would be too large once decoded (9000 by 9000 pixels)"


def test_a_small_image_is_told_with_both_sizes() -> None:
    assert fault_of_image(image(), min_width=512) == "the image is 64 by 48 pixels, less than 512 by 1"


VIDEOS = {
    "MP4": mp4(),
    "MP4 with wide times": mp4(wide=True),
    "MP4 with its head at the end": mp4()[:24] + mp4()[-508:] + mp4()[24:-508],
    "WebM": webm(),
    "WebM as it is streamed": webm(unknown=True),
}
BAD_VIDEOS = {
    "an error page": (b"<html>502</html>", {}, "it is neither MP4 nor WebM"),
    "MP4 cut off": (mp4()[:-100], {}, "the MP4 is cut off"),
    "MP4 that was not finished": (box(b"ftyp", b"isom") + box(b"mdat", bytes(99)), {}, "does not say what it holds"),
    "MP4 without pictures": (mp4()[:-508], {}, "the MP4 holds no pictures"),
    "WebM cut off": (webm()[:-100], {}, "the WebM is cut off"),
    "sound alone": (mp4(size=(0, 0)), {}, "there is no picture in the video"),
    "too small": (webm(), {"min_width": 1280}, "the video is 640 by 360 pixels, less than 1280 by 1"),
    "too short": (mp4(), {"min_seconds": 6.0}, "the video is 5.00 s long, less than 6 s"),
    "too long": (webm(), {"max_seconds": 4.0}, "the video is 5.00 s long, more than 4 s"),
    "no frames": (mp4(0.0001), {"min_seconds": 1.0}, "does not say how long it is"),
    "too few bytes": (mp4(), {"min_bytes": 10_000}, "bytes, less than 10000"),
    "a length that is asked for and not there": (webm(None), {"min_seconds": 1.0}, "does not say how long it is"),
}


@pytest.mark.parametrize("name", VIDEOS)
def test_a_whole_video_passes(name: str) -> None:
    rule = {"min_width": 640, "min_height": 360, "min_seconds": 4.9, "max_seconds": 5.1}
    assert fault_of_video(VIDEOS[name], **rule) == ""


@pytest.mark.parametrize("name", BAD_VIDEOS)
def test_a_bad_video_is_told(name: str) -> None:
    data, rule, told = BAD_VIDEOS[name]
    assert told in fault_of_video(data, **rule)


def test_a_video_that_does_not_say_its_length_passes_where_nobody_asks() -> None:
    assert fault_of_video(webm(None)) == ""


@pytest.mark.parametrize("data", [mp4(), webm(), wav(0.6), image()], ids=["MP4", "WebM", "WAV", "PNG"])
def test_whatever_is_broken_in_a_file_there_is_a_sentence_and_no_traceback(data: bytes) -> None:
    for at in range(min(len(data), 400)):
        for broken in (data[:at], data[:at] + b"\xff" + data[at + 1 :], data[:at] + b"\x00" * 8 + data[at + 8 :]):
            fault_of_video(broken)
            fault_of_wav(broken)
            fault_of_image(broken)
