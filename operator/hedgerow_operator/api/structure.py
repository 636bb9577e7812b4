"""Checks plain objects against a structural schema as the API server does, in the same words where it has good ones."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from hedgerow_operator.api.guesses import instead, meant
from hedgerow_operator.api.problem import Problem, blame
from hedgerow_operator.api.schema import KEPT_OPEN, Schema

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
}
_HALF = r"\ud800 to \udfff are only halves of a character; write it whole"
_TYPE_HELP = {
    "object": "object (indented fields)",
    "array": "array (a list)",
    "string": "string (text; quote numbers, true and false)",
    "boolean": "boolean (true or false)",
    "integer": "integer (a whole number)",
}


def structure_problems(value: Any, schema: Schema, at: str = "") -> Iterator[Problem]:
    """Everything in which ``value`` departs from the schema, in the order of the manifest."""
    if not _has_type(value, schema):
        help_text = f"must be of type {_TYPE_HELP[schema['type']]}, got {_described(value)}{instead(value, schema, at)}"
        yield blame(at, help_text)
        return
    yield from (blame(at, message) for message in _bound_messages(value, schema))
    if isinstance(value, str) and not _is_whole(value):
        yield blame(at, _HALF)
    if isinstance(value, dict):
        yield from _field_problems(value, schema, at)
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from structure_problems(entry, schema.get("items", {}), f"{at}[{index}]")


def without_nulls(value: Any, schema: Schema) -> Any:
    """The value without the known fields that are null: the API server drops them before it looks."""
    if isinstance(value, dict):
        known = schema.get("properties", {})
        kept = {name: entry for name, entry in value.items() if entry is not None or name not in known}
        return {name: without_nulls(entry, known.get(name, {})) for name, entry in kept.items()}
    if isinstance(value, list):
        return [without_nulls(entry, schema.get("items", {})) for entry in value]
    return value


def _field_problems(value: dict[str, Any], schema: Schema, at: str) -> Iterator[Problem]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties")
    for name, entry in value.items():
        inner = f"{at}.{name}" if at else name
        if not _is_whole(name):
            yield blame(at, _HALF)
        elif name in known:
            yield from structure_problems(entry, known[name], inner)
        elif others is not None:
            yield from structure_problems(entry, others, inner)
        elif known and not schema.get(KEPT_OPEN):
            yield Problem(inner, f'unknown field "{inner}"; {_nearest(name, known)}')
    for name in schema.get("required", ()):
        if name not in value:
            help_text = known[name].get("description", "")
            yield blame(f"{at}.{name}" if at else name, f"Required value. {help_text}".strip())


def _has_type(value: Any, schema: Schema) -> bool:
    if "type" not in schema:
        return True
    if isinstance(value, bool):
        return bool(schema["type"] == "boolean")
    return isinstance(value, _TYPES[schema["type"]])


# keyword: (whether the value keeps it, what to say otherwise)
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda value, limit: value >= limit, "should be greater than or equal to {limit}, got {value}"),
    "maximum": (lambda value, limit: value <= limit, "should be less than or equal to {limit}, got {value}"),
    "minLength": (lambda value, limit: len(value) >= limit, "should be at least {limit} chars long, got {value}"),
    "maxLength": (lambda value, limit: len(value) <= limit, "may not be more than {limit} chars long"),
    "pattern": (
        lambda value, limit: re.search(limit, value) is not None,
        "should match '{limit}'; take out the characters that do not, got {value:.200}",
    ),
    "minItems": (lambda value, limit: len(value) >= limit, "should have at least {limit} items"),
    "maxItems": (lambda value, limit: len(value) <= limit, "must have at most {limit} items"),
    "maxProperties": (lambda value, limit: len(value) <= limit, "must have at most {limit} items"),
    "enum": (lambda value, limit: value in limit, "{value} is not supported; supported values: {limit}"),
}


def _bound_messages(value: Any, schema: Schema) -> Iterator[str]:
    for keyword, (keeps, message) in _BOUNDS.items():
        if keyword in schema and not keeps(value, schema[keyword]):
            told = message.format(limit=_listed(schema[keyword]), value=_quoted(value))
            yield told + (meant(value, schema[keyword]) if keyword == "enum" else "")


def _is_whole(text: str) -> bool:
    """Whether the text is one that a file or a process can hold: UTF-8 has no place for half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _listed(limit: Any) -> str:
    return ", ".join(map(_quoted, limit)) if isinstance(limit, list) else str(limit)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _described(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"text {_quoted(value)}" if isinstance(value, str) else _quoted(value)


def _nearest(name: str, known: Schema) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known here: {', '.join(sorted(known))}"
