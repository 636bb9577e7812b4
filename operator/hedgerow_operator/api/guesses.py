"""What somebody who wrote the wrong thing most likely meant, as the end of the sentence that says so. Pure."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Callable
from typing import Any

from hedgerow_operator.api.schema import Schema

_TRUTHS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
# Longer text than this helps nobody when it is repeated.
_MOST_CHARACTERS = 200
_PLAIN = re.compile(r"-{0,2}[A-Za-z_./][\w./=+-]*")


def instead(value: Any, schema: Schema) -> str:
    """``; write [python3, train.py]`` for a value of the wrong type; "" where nothing can be guessed."""
    guesser = _GUESSES.get(schema["type"])
    guess = guesser(value, schema) if guesser is not None else None
    return "" if guess is None or len(guess) > _MOST_CHARACTERS else f"; write {guess}"


def meant(value: Any, allowed: list[Any]) -> str:
    """``; did you mean "Observe"?`` for a word that is nearly one of those that are allowed."""
    by_lower = {word.lower(): word for word in allowed if isinstance(word, str)}
    near = difflib.get_close_matches(value.lower(), by_lower, n=1) if isinstance(value, str) else []
    return f"; did you mean {json.dumps(by_lower[near[0]])}?" if near else ""


def _list(value: Any, schema: Schema) -> str | None:
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


def _integer(value: Any, schema: Schema) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    number = re.fullmatch(r"(\d+) ?(?:s|sec|seconds)?", text)
    return number[1] if number else None


def _boolean(value: Any, schema: Schema) -> str | None:
    return _TRUTHS.get(str(value).strip().lower()) if isinstance(value, str) else None


def _string(value: Any, schema: Schema) -> str | None:
    return json.dumps(json.dumps(value)) if isinstance(value, (bool, int, float)) else None


_GUESSES: dict[str, Callable[[Any, Schema], str | None]] = {
    "array": _list,
    "integer": _integer,
    "boolean": _boolean,
    "string": _string,
}
