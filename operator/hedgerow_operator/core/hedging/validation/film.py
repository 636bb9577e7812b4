"""What a video's container says."""

from msgspec import Struct


class Film(Struct, frozen=True, kw_only=True):
    """width, height: of the largest picture, 0: none. seconds: None: it does not say."""

    width: int = 0
    height: int = 0
    seconds: float | None = None
