"""JSON Schema: references stay within the schema, since nothing that an answer names is ever fetched."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.core.hedging.validation.seen import Fault, NotInstalled


def schema_check(schema: dict[str, Any]) -> Any:
    """A validator of the library's. Raises ValueError when the schema is none."""
    try:
        from jsonschema import Draft202012Validator, SchemaError
        from jsonschema.validators import validator_for
        from jsonschema_specifications import REGISTRY
    except ImportError:
        raise NotInstalled("JSONSchema") from None
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"schema is no JSON Schema: {str(error.message)[:200]}") from None
    return kind(schema, registry=REGISTRY)


def check_schema(fits: Any, value: Any) -> None:
    """Raises Fault, with the place but without the words of the answer."""
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    try:
        error = best_match(fits.iter_errors(value))
    except (Unresolvable, RecursionError):
        raise Fault("schema refers to what is not in it") from None
    if error is not None:
        told = f"{error.json_path} breaks the schema's {error.validator}"
        raise Fault(told[:200])
