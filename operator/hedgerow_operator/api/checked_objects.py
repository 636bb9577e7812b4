"""The checks that the API server makes on kinds other than TrainingJob, for places where there is none. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import jmespath

from hedgerow_operator.api.address_rules import is_header_name, names_no_host, urls_of
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint, inference_endpoint
from hedgerow_operator.api.inference_rules import INFERENCE_ENDPOINT_RULES
from hedgerow_operator.api.labels import API_VERSION, INFERENCE_ENDPOINT_KIND, SERVERLESS_PROVIDER_KIND
from hedgerow_operator.api.problem import Problem, blame
from hedgerow_operator.api.rule import Rule
from hedgerow_operator.api.schema import Schema, inference_endpoint_schema, serverless_provider_schema
from hedgerow_operator.api.serverless_provider import ServerlessProvider, serverless_provider
from hedgerow_operator.api.serverless_provider_rules import SERVERLESS_PROVIDER_RULES
from hedgerow_operator.api.structure import structure_problems, without_nulls
from hedgerow_operator.api.validate import namespace_problems, writable

_HTTP_STATUS = "@status"
_DOTTED = r"[\w-]+(\.[\w-]+)*"

T = TypeVar("T", InferenceEndpoint, ServerlessProvider)


@dataclass(frozen=True)
class Kind(Generic[T]):
    """One kind. more: what CEL cannot look for."""

    name: str
    schema: Callable[[], Schema]
    rules: tuple[Rule, ...]
    read: Callable[[dict[str, Any]], T]
    more: Callable[[T], Iterator[Problem]]


def checked_object(fields: dict[str, Any], kind: Kind[T]) -> tuple[T | None, tuple[Problem, ...]]:
    """The object in one manifest of this kind, or what is wrong with it. Its status is left out."""
    if fields.get("apiVersion") != API_VERSION:
        version = fields.get("apiVersion")
        return None, (blame("apiVersion", f"there is no {kind.name} in {version}; write apiVersion: {API_VERSION}"),)
    schema = writable(kind.schema())
    written = without_nulls({name: entry for name, entry in fields.items() if name != "status"}, schema)
    problems = tuple(structure_problems(written, schema))
    if problems:
        return None, problems
    found = kind.read(written)
    broken = tuple(object_problems(found, kind))
    return (None, broken) if broken else (found, ())


def object_problems(found: T, kind: Kind[T]) -> Iterator[Problem]:
    """The rules that it breaks."""
    for rule in kind.rules:
        if not rule.holds(found if rule.at == "" else found.spec):
            yield blame(rule.place, rule.message)
    yield from namespace_problems(found.metadata.namespace)
    yield from kind.more(found)


def endpoint_expressions(endpoint: InferenceEndpoint) -> Iterator[Problem]:
    """JMESPaths and patterns that nobody can read."""
    for index, provider in enumerate(endpoint.spec.providers):
        yield from _jmespath(f"spec.providers[{index}].request", provider.request)
        yield from _jmespath(f"spec.providers[{index}].response", provider.response)
    for index, check in enumerate(endpoint.spec.validate):
        yield from _jmespath(f"spec.validate[{index}].at", check.at)
        yield from _jmespath(f"spec.validate[{index}].expression", check.expression)
        yield from _pattern(f"spec.validate[{index}].pattern", check.pattern)


def provider_expressions(provider: ServerlessProvider) -> Iterator[Problem]:
    """Hosts that are none, names of headers that HTTP does not know, and JMESPaths that nobody can read."""
    for place, url in urls_of(provider.spec):
        if names_no_host(url):
            yield blame(f"spec.{place}", "what comes after // is no host; write one as in https://api.example.com/v1")
    http = provider.spec.http
    if http is None:
        return
    for name in http.headers or {}:
        if not is_header_name(name):
            yield blame("spec.http.headers", f"{name!r} is no name of a header; write one such as Authorization")
    if http.submit is not None:
        yield from _path("spec.http.submit.id", http.submit.id)
    if http.status is not None:
        if http.status.state != _HTTP_STATUS:
            yield from _path("spec.http.status.state", http.status.state)
        yield from _path("spec.http.status.error", http.status.error)
    yield from _path("spec.http.output", http.output)


def _path(at: str, path: str | None) -> Iterator[Problem]:
    """Dotted paths with hyphens and indexes are taken too."""
    if path is not None and re.fullmatch(_DOTTED, path) is None:
        yield from _jmespath(at, path)


def _jmespath(at: str, expression: str | None) -> Iterator[Problem]:
    try:
        if expression is not None:
            jmespath.compile(expression)
    except jmespath.exceptions.JMESPathError as error:
        told = str(error).splitlines()[0]
        yield blame(at, f"is no JMESPath ({told}); write one such as choices[0].message.content")


def _pattern(at: str, pattern: str | None) -> Iterator[Problem]:
    try:
        if pattern is not None:
            re.compile(pattern)
    except re.error as error:
        yield blame(at, f"is no regular expression ({error}); write one such as ^OK")


ENDPOINTS = Kind(
    INFERENCE_ENDPOINT_KIND,
    inference_endpoint_schema,
    INFERENCE_ENDPOINT_RULES,
    inference_endpoint,
    endpoint_expressions,
)
PROVIDERS = Kind(
    SERVERLESS_PROVIDER_KIND,
    serverless_provider_schema,
    SERVERLESS_PROVIDER_RULES,
    serverless_provider,
    provider_expressions,
)
