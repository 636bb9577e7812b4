"""Images: whether one can be decoded to its end, how large it is, and whether anything is on it."""

import io
import warnings
from typing import Any

from msgspec import Struct

from hedgerow_operator.core.hedging.validation.seen import Fault

# Those that models answer by; fewer decoders are fewer doors.
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")
# 8k in both directions: 200 MB once decoded.
_MOST_PIXELS = 67_108_864
# A blank image may come out of a lossy coder with values that differ by one or two.
_BLANK = 2


class ImageRule(Struct, frozen=True, kw_only=True):
    """In pixels."""

    min_width: int = 1
    min_height: int = 1


def check_image(data: bytes, rule: ImageRule) -> None:
    """Its header is read first, so that one that would unfold to gigabytes is never unfolded. Raises Fault."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                _check_size(image.size, rule)
                image.load()
                _check_content(image)
    except Fault:
        raise
    except Image.DecompressionBombError:
        raise Fault("the image would be too large once decoded") from None
    except Exception as error:  # noqa: BLE001 - what decoders raise on broken files is any of a dozen kinds
        raise Fault(f"the image cannot be decoded ({type(error).__name__})") from None


def _check_size(size: tuple[int, int], rule: ImageRule) -> None:
    width, height = size
    if width * height > _MOST_PIXELS:
        raise Fault(f"the image would be too large once decoded ({width} by {height} pixels)")
    if width < rule.min_width or height < rule.min_height:
        raise Fault(f"the image is {width} by {height} pixels, less than {rule.min_width} by {rule.min_height}")


def _check_content(image: Any) -> None:
    """Blank: all of one colour, or all of it transparent."""
    whole = image.convert("RGBA") if image.mode in ("P", "PA", "LA", "RGBA") else image.convert("RGB")
    bands = whole.getextrema()
    if len(bands) == 4 and bands[3][1] == 0:
        raise Fault("the image is transparent all over")
    if all(high - low <= _BLANK for low, high in bands[:3]):
        raise Fault("the image is blank")
