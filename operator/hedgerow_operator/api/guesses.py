"""What somebody who wrote the wrong thing most likely meant, as the end of the sentence that says so. Pure."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hedgerow_operator.api.schema import Schema

_TRUTHS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
# Longer text than this helps nobody when it is repeated.
_MOST_CHARACTERS = 200
_AMOUNT = re.compile(r"(\d{1,18}(?:\.\d{1,9})?) ?([A-Za-z%]*)")
_IN_SECONDS = {
    **dict.fromkeys(("ms", "millis", "milliseconds"), Fraction(1, 1000)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), Fraction(1)),
    **dict.fromkeys(("m", "min", "minute", "minutes"), Fraction(60)),
    **dict.fromkeys(("h", "hour", "hours"), Fraction(3600)),
}
# By a part of a field's name: what people write behind a number, and how many of the field's own that is.
_UNITS: dict[str, dict[str, Fraction]] = {
    "Millis": {unit: 1000 * seconds for unit, seconds in _IN_SECONDS.items()},
    "Seconds": _IN_SECONDS,
    "Percent": {"%": Fraction(1)},
    "MiB": {**dict.fromkeys(("mib", "mi"), Fraction(1)), **dict.fromkeys(("gib", "gi"), Fraction(1024))},
}
_PLAIN = re.compile(r"-{0,2}[A-Za-z_./][\w./=+-]*")


def instead(value: Any, schema: Schema, at: str = "") -> str:
    """``; write [python3, train.py]`` for a value of the wrong type; "" where nothing can be guessed.

    at: its place; the last letters of its name say in which unit a number is.
    """
    guesser = _GUESSES.get(schema["type"])
    guess = guesser(value, schema, at.rpartition(".")[2]) if guesser is not None else None
    return "" if guess is None or len(guess) > _MOST_CHARACTERS else f"; write {guess}"


def meant(value: Any, allowed: list[Any]) -> str:
    """``; did you mean "Observe"?`` for a word that is nearly one of those that are allowed."""
    by_lower = {word.lower(): word for word in allowed if isinstance(word, str)}
    near = difflib.get_close_matches(value.lower(), by_lower, n=1) if isinstance(value, str) else []
    return f"; did you mean {json.dumps(by_lower[near[0]])}?" if near else ""


def _list(value: Any, schema: Schema, name: str) -> str | None:
    inner = schema.get("items", {}).get("type")
    if isinstance(value, dict):
        return "a - before it" if inner == "object" else None
    if inner != "string" or not isinstance(value, str):
        return None
    try:
        words = shlex.split(value)
    except ValueError:
        words = value.split()
    return f"[{', '.join(word if _plain(word) else json.dumps(word, ensure_ascii=False) for word in words)}]"


def _plain(word: str) -> bool:
    return _PLAIN.fullmatch(word) is not None and word.lower() not in (*_TRUTHS, "null")


def _integer(value: Any, schema: Schema, name: str) -> str | None:
    written = _AMOUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    if written is None:
        return None
    amount, unit = Fraction(written[1]), written[2].lower()
    if unit:
        units = next((units for part, units in _UNITS.items() if part in name), {})
        if unit not in units:
            return None
        amount *= units[unit]
    return str(amount.numerator) if amount.denominator == 1 else None


def _boolean(value: Any, schema: Schema, name: str) -> str | None:
    return _TRUTHS.get(str(value).strip().lower()) if isinstance(value, str) else None


def _string(value: Any, schema: Schema, name: str) -> str | None:
    return json.dumps(json.dumps(value)) if isinstance(value, (bool, int, float)) else None


_GUESSES: dict[str, Callable[[Any, Schema, str], str | None]] = {
    "array": _list,
    "integer": _integer,
    "boolean": _boolean,
    "string": _string,
}
