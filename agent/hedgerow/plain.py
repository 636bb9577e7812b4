"""Messages as JSON objects without what goes without saying: fields at their default, which the reader fills in."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Tuple


def plain(value: Any) -> Any:
    """A dataclass as dicts and lists, without fields that are at their default."""
    if not dataclasses.is_dataclass(value):
        return [plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value
    found = {}
    for name, default in _defaults(type(value)):
        content = getattr(value, name)
        if content is not default and content != default:
            found[name] = plain(content)
    return found


_DEFAULTS: Dict[Any, List[Tuple[str, Any]]] = {}


def _defaults(kind: Any) -> List[Tuple[str, Any]]:
    if kind not in _DEFAULTS:
        # The version is always told, and what has no default always differs from this.
        _DEFAULTS[kind] = [(field.name, _default(field)) for field in dataclasses.fields(kind)]
    return _DEFAULTS[kind]


def _default(field: Any) -> Any:
    if field.name == "version":
        return _DEFAULTS
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else _DEFAULTS
