"""One request in the shape of each provider, and its answer back in ours."""

import functools
from collections.abc import Mapping
from typing import Any

import jmespath
import msgspec
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Answer, Call, ProviderError
from hedgerow_operator.adapters.providers.values import decoded
from hedgerow_operator.gateway.events import data_of, split_events
from hedgerow_operator.gateway.incoming import Incoming
from hedgerow_operator.gateway.reply import RefusedError
from hedgerow_operator.gateway.settings import ProviderUse

_shallow = msgspec.json.Decoder(dict[str, msgspec.Raw])
_expression = functools.lru_cache(maxsize=256)(jmespath.compile)


def call_for(use: ProviderUse, incoming: Incoming, *, stream: bool, seconds: float) -> Call:
    """The request as this provider is to be given it."""
    return Call(
        method=incoming.method,
        path=use.path or incoming.path,
        body=_body(use, incoming.body),
        headers=incoming.headers,
        stream=stream,
        upload=incoming.upload,
        deadline=seconds,
    )


def wants_stream(incoming: Incoming) -> bool:
    """Whether the client reads as it comes: "stream": true, or it accepts events only."""
    if b'"stream"' in incoming.body:
        try:
            return bytes(_shallow_of(incoming.body).get("stream", b"")) == b"true"
        except ValueError:
            return False
    return "text/event-stream" in incoming.headers.get("Accept", "")


def _shallow_of(body: bytes) -> dict[str, msgspec.Raw]:
    """The fields of an object, each as it is written. Raises ValueError."""
    try:
        return _shallow.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _body(use: ProviderUse, body: bytes) -> bytes:
    if not (use.model or use.request) or not body:
        return body
    try:
        if not use.request:
            fields = _shallow_of(body)
            fields["model"] = msgspec.Raw(msgspec.json.encode(use.model))
            return msgspec.json.encode(fields)
        asked = decoded(body)
    except ValueError:
        raise ProviderError("the request is no JSON object, so no model can be put in", safe_to_retry=True) from None
    if use.model and isinstance(asked, dict):
        asked["model"] = use.model
    return msgspec.json.encode(_searched(use.request, asked, use.name))


def shaped(use: ProviderUse, answer: Answer) -> Answer:
    """A whole answer as the client is to see it, by ``response``. Raises ProviderError."""
    if not use.response:
        return answer
    if answer.output is not None:
        return replace(answer, output=_searched(use.response, answer.output, use.name))
    try:
        found = decoded(answer.body)
    except ValueError:
        raise ProviderError(f"{use.name} answered with what is no JSON") from None
    return replace(answer, body=msgspec.json.encode(_searched(use.response, found, use.name)))


def shaped_events(use: ProviderUse, whole: bytes) -> bytes:
    """Whole events of a stream, each with what ``response`` makes of its data."""
    if not use.response:
        return whole
    made = []
    for event in split_events(whole):
        name, data = data_of(event)
        try:
            found = decoded(data)
        except ValueError:
            made.append(event)
            continue
        head = b"event: " + name + b"\n" if name else b""
        made.append(head + b"data: " + msgspec.json.encode(_searched(use.response, found, use.name)))
    return b"".join(event + b"\n\n" for event in made)


def body_of(answer: Answer) -> bytes:
    """The bytes for a client of HTTP: of a job, its output as JSON."""
    return answer.body if answer.output is None else msgspec.json.encode(answer.output)


def output_of(answer: Answer) -> Any:
    """The output for a client of jobs: of an HTTP answer, its JSON, or its text."""
    if answer.output is not None or not answer.body:
        return answer.output
    try:
        return decoded(answer.body)
    except ValueError:
        return answer.body.decode(errors="replace")


def json_object(body: bytes) -> Mapping[str, Any]:
    """Of a client. Raises RefusedError."""
    try:
        found = decoded(body or b"{}")
    except ValueError as error:
        raise RefusedError(400, f"the body is no JSON ({error})") from None
    if not isinstance(found, dict):
        raise RefusedError(400, 'the body has to be a JSON object, such as {"input": {}}')
    return found


def _searched(expression: str, found: Any, provider: str) -> Any:
    try:
        return _expression(expression).search(found)
    except jmespath.exceptions.JMESPathError as error:
        raise ProviderError(f"an expression for {provider} does not fit: {error}", safe_to_retry=True) from None
