"""The base of every API struct, and the way from a struct to the plain objects of JSON and YAML."""

from __future__ import annotations

import functools
from typing import Any

import msgspec


class Model(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A frozen part of an object; unknown fields are dropped when it is read."""


class StrictModel(Model, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen part of an object that the user writes; unknown fields are refused."""


def list_keyed_by(name: str) -> dict[str, Any]:
    """Schema of a list with one entry for each value of this field, merged entry by entry by server-side apply."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [name]}


def to_builtins(value: Any) -> Any:
    """Dicts, lists, text, numbers and booleans with the camelCase names of the API.

    A field that is None is left out; a raw dict (the pod template, labels) comes out as it is, nulls included.
    """
    if isinstance(value, msgspec.Struct):
        fields = ((encoded, getattr(value, name)) for encoded, name in _names(type(value)))
        return {name: to_builtins(entry) for name, entry in fields if entry is not None}
    if isinstance(value, list | tuple):
        return [to_builtins(entry) for entry in value]
    if isinstance(value, dict):
        return {name: to_builtins(entry) for name, entry in value.items()}
    return value


@functools.cache
def _names(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """Of each field its name in the API and in Python; msgspec works them out anew whenever it is asked."""
    return tuple((field.encode_name, field.name) for field in msgspec.structs.fields(kind))
