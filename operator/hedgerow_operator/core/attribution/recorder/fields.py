"""Values of unknown shape, taken only if they are what they should be."""

from collections.abc import Mapping
from typing import Any


def integer(value: object) -> int | None:
    """The integer, also one written as text; None for anything else (True is no number)."""
    if type(value) is int:
        return value
    if isinstance(value, str) and len(value) < 20 and value.lstrip("-").isdecimal():
        return int(value)
    return None


def text(value: object) -> str:
    """The text, or nothing."""
    return value if isinstance(value, str) else ""


def table(value: object) -> Mapping[Any, Any]:
    """The mapping, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any] | tuple[Any, ...] | None:
    """The list or tuple; None for anything else."""
    return value if isinstance(value, list | tuple) else None


def strings(value: object) -> tuple[str, ...] | None:
    """The texts of a list; None if it is no list."""
    values = items(value)
    return None if values is None else tuple(item for item in values if isinstance(item, str))
