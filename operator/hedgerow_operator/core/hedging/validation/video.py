"""Videos by what their containers say: size, length, and whether all of the file is there.

Whether there is anything to be seen would need a decoder, which is not here: a blank video passes.
"""

from msgspec import Struct

from hedgerow_operator.core.hedging.validation.mp4 import is_mp4, read_mp4
from hedgerow_operator.core.hedging.validation.seen import Fault
from hedgerow_operator.core.hedging.validation.webm import is_webm, read_webm


class VideoRule(Struct, frozen=True, kw_only=True):
    """Zero and None: not looked at."""

    min_bytes: int = 0
    min_seconds: float = 0.0
    max_seconds: float | None = None
    min_width: int = 1
    min_height: int = 1


def check_video(data: bytes, rule: VideoRule) -> None:
    """Raises Fault."""
    if len(data) < rule.min_bytes:
        raise Fault(f"the video has {len(data)} bytes, less than {rule.min_bytes}")
    if is_mp4(data):
        film = read_mp4(data)
    elif is_webm(data):
        film = read_webm(data)
    else:
        raise Fault("it is neither MP4 nor WebM")
    if not film.width or not film.height:
        raise Fault("there is no picture in the video")
    if film.width < rule.min_width or film.height < rule.min_height:
        raise Fault(
            f"the video is {film.width} by {film.height} pixels, less than {rule.min_width} by {rule.min_height}"
        )
    _check_length(film.seconds, rule)


def _check_length(seconds: float | None, rule: VideoRule) -> None:
    if seconds is None:
        if rule.min_seconds or rule.max_seconds is not None:
            raise Fault("the video does not say how long it is")
        return
    if seconds < rule.min_seconds or seconds <= 0:
        raise Fault(f"the video is {seconds:.2f} s long, less than {rule.min_seconds:g} s")
    if rule.max_seconds is not None and seconds > rule.max_seconds:
        raise Fault(f"the video is {seconds:.2f} s long, more than {rule.max_seconds:g} s")
