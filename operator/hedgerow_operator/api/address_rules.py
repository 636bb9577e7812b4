"""What addresses, paths and headers of a provider may look like. Patterns are read alike by RE2 and by Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.api.rule import Rule, cel_list
from hedgerow_operator.api.serverless_provider import ServerlessProviderSpec

# Types whose endpoint is a URL.
BY_URL = ("Modal", "Cerebrium", "HTTP")
_PORT = "0*(6553[0-5]|655[0-2][0-9]|65[0-4][0-9][0-9]|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})"
_URL = rf"^https?://([^\[\]:@/\s?#]+|\[[0-9a-fA-F:.]+\])(:{_PORT})?(/[^\s?#]*)?$"
# "..", also as it may be written with percent signs.
_UPWARDS = r"(^|/)([.]|%2[eE])([.]|%2[eE])(/|$|[?#])"
_ONE_LINE = r"^[^\x00-\x08\x0a-\x1f\x7f]*$"
# RFC 9110, token.
_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"

_OTHER_URLS = ("runpod.apiURL", "runpod.managementURL", "vast.routeURL", "cerebrium.restURL", "lambda.apiURL")
_PATHS = (
    "vast.path", "http.healthPath", "http.submit.path", "http.status.path", "http.result.path", "http.cancel.path",
    "kubernetes.healthPath",
)  # fmt: skip

_WRITE_A_URL = (
    "write https://HOST/PATH or http://HOST:PORT/PATH with a port from 1 to 65535, without user or question mark; "
    "secrets belong into credentialsSecretRef"
)
STAYS_BELOW = "a path stays below the provider's address; take the .. out"


def urls_of(spec: ServerlessProviderSpec) -> Iterator[tuple[str, str]]:
    """The URLs that it names, each with its place below spec."""
    if spec.endpoint is not None and spec.type in BY_URL:
        yield "endpoint", spec.endpoint
    fields = to_builtins(spec)
    for place in _OTHER_URLS:
        url = _at(fields, place)
        if url is not None:
            yield place, url


def names_no_host(url: str) -> bool:
    """Whether it looks like a URL, and what it writes as a host is neither an address nor a name."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # [:::::], or signs that would become others
        host = ""
    return re.fullmatch(_URL, url) is not None and not (host and host.isprintable())


def climbs(path: str | None) -> bool:
    """Whether a path leaves what it is put below."""
    return path is not None and re.search(_UPWARDS, path) is not None


def cel_climbs(path: str) -> str:
    """The same in CEL, about the expression ``path``."""
    return f"{path}.matches(r'{_UPWARDS}')"


def is_header_name(name: str) -> bool:
    """Whether HTTP knows such a name."""
    return re.fullmatch(_HEADER_NAME, name) is not None


def is_one_line(text: str) -> bool:
    """Whether a header can hold it."""
    return re.fullmatch(_ONE_LINE, text) is not None and not text.endswith("\n")


def _at(fields: Any, place: str) -> Any:
    for step in place.split("."):
        fields = fields.get(step) if isinstance(fields, dict) else None
    return fields


def _absent(place: str) -> str:
    """CEL: there is nothing at this place."""
    steps = place.split(".")
    return " || ".join(f"!has(self.{'.'.join(steps[: count + 1])})" for count in range(len(steps)))


def _other_url(place: str) -> Rule:
    def holds(spec: ServerlessProviderSpec) -> bool:
        url = _at(to_builtins(spec), place)
        return url is None or re.fullmatch(_URL, url) is not None

    cel = f"{_absent(place)} || self.{place}.matches(r'{_URL}')"
    return Rule(at="spec", field=place, cel=cel, message=_WRITE_A_URL, holds=holds)


def _path(place: str) -> Rule:
    return Rule(
        at="spec",
        field=place,
        cel=f"{_absent(place)} || !{cel_climbs(f'self.{place}')}",
        message=STAYS_BELOW,
        holds=lambda spec: not climbs(_at(to_builtins(spec), place)),
    )


def _endpoint_is_a_url(spec: ServerlessProviderSpec) -> bool:
    return spec.type not in BY_URL or spec.endpoint is None or re.fullmatch(_URL, spec.endpoint) is not None


def _headers_are_lines(spec: ServerlessProviderSpec) -> bool:
    return spec.http is None or all(map(is_one_line, (spec.http.headers or {}).values()))


ADDRESS_RULES = (
    Rule(
        at="spec",
        field="endpoint",
        cel=f"!(self.type in {cel_list(BY_URL)}) || !has(self.endpoint) || self.endpoint.matches(r'{_URL}')",
        message=_WRITE_A_URL,
        holds=_endpoint_is_a_url,
    ),
    *map(_other_url, _OTHER_URLS),
    *map(_path, _PATHS),
    Rule(
        at="spec",
        field="http.headers",
        cel="!has(self.http) || !has(self.http.headers)"
        f" || self.http.headers.all(name, self.http.headers[name].matches(r'{_ONE_LINE}'))",
        message="no header can hold a line break or another control character; write each value as one line",
        holds=_headers_are_lines,
    ),
)
