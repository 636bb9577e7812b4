"""Reading what others answer: whatever it is, it becomes the type that was asked for, or nothing."""

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

# A provider that answers by a page wants no page in our messages.
_MOST_WORDS = 200


def decoded(text: bytes) -> Any:
    """JSON. Raises ValueError, also for NaN, bad UTF-8, and what is nested too deep."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError(f"no JSON ({error})") from None


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, else an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Text or a whole number as text, else empty."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)


def number(value: Any) -> float | None:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def seconds(millis: Any) -> float | None:
    """Milliseconds as seconds."""
    found = number(millis)
    return None if found is None else found / 1000


def count(value: Any) -> int | None:
    """A whole number that is not negative."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def address(value: str) -> SplitResult | None:
    """An address of HTTP without credentials in it; None: it is none."""
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
        return parts if good and parts.port != 0 else None
    except ValueError:
        return None


def words(value: Any) -> str:
    """A few printable words of what somebody else wrote."""
    whole = value if isinstance(value, str) else "" if value is None else msgspec.json.encode(value).decode()
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in whole[: 4 * _MOST_WORDS]).split())
    return line if len(line) <= _MOST_WORDS else line[: _MOST_WORDS - 1] + "…"
