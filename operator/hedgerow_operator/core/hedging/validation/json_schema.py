"""JSON Schema: references stay within the schema, since nothing that an answer names is ever fetched."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.core.hedging.validation.seen import Fault, NotInstalled


def schema_check(schema: dict[str, Any]) -> Any:
    """A validator of the library's. Raises ValueError when the schema is none, or refers to what is not in it."""
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
    outside = _outside(schema, REGISTRY)
    if outside:
        raise ValueError(
            f"schema refers to {outside[:200]!r}, which is not in it, and nothing is fetched; "
            "copy it below $defs and write #/$defs/NAME"
        )
    return kind(schema, registry=REGISTRY)


def _outside(schema: dict[str, Any], registry: Any) -> str:
    """The first reference to what is neither in the schema nor a schema of schemas; "" when there is none."""
    from referencing import Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    root = Resource.from_contents(schema, DRAFT202012)
    waiting, seen = [(registry.resolver_with_root(root), root)], set()
    while waiting:
        resolver, resource = waiting.pop()
        if not isinstance(resource.contents, dict) or id(resource.contents) in seen:
            continue
        seen.add(id(resource.contents))
        reference = resource.contents.get("$ref")
        if isinstance(reference, str):
            try:
                found = resolver.lookup(reference)
            except (Unresolvable, ValueError):
                return reference
            waiting.append((found.resolver, Resource.from_contents(found.contents, DRAFT202012)))
        waiting += [(resolver.in_subresource(inner), inner) for inner in resource.subresources()]
    return ""


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
