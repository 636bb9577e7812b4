"""Server-sent events, as far as it takes to tell content from what only surrounds it."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from hedgerow_operator.adapters.providers.values import decoded


class Weight(Enum):
    """NOTHING: roles, comments, keep-alives. CONTENT: from here on the stream is this provider's. ERROR: it failed."""

    NOTHING = 0
    CONTENT = 1
    ERROR = 2


class Weighed(Struct, frozen=True):
    """sentence: of an error, as the provider puts it."""

    weight: Weight
    sentence: str = ""


_NOTHING, _CONTENT = Weighed(Weight.NOTHING), Weighed(Weight.CONTENT)
_MOST_SENTENCE = 200
# Until an event has ended, so much of it is kept.
MOST_EVENT_BYTES = 8 * 1024 * 1024


_ENDS = (b"\n\n", b"\n\r\n", b"\r\r")
_BETWEEN = re.compile(rb"(?:\r\n|\n|\r){2,}")


class Events:
    """Whole events out of bytes as they come."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> bytes:
        """All events that are whole now, as they came. Raises ValueError when one never ends."""
        data = self._rest + chunk if self._rest else chunk
        end = max(at + len(mark) if (at := data.rfind(mark)) >= 0 else 0 for mark in _ENDS)
        self._rest = data[end:]
        if len(self._rest) > MOST_EVENT_BYTES:
            raise ValueError("an event of the stream is larger than 8 MiB")
        return data[:end]

    @property
    def rest(self) -> bytes:
        """What is no whole event yet."""
        return self._rest


def split_events(whole: bytes) -> Iterator[bytes]:
    """Of bytes that hold whole events, each without what separates it from the next."""
    return (event for event in _BETWEEN.split(whole) if event)


def data_of(event: bytes) -> tuple[bytes, bytes]:
    """The name and the data of one event."""
    name, data = b"", []
    for line in event.splitlines():
        field, _, value = line.partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return name, b"\n".join(data)


def weigh(event: bytes, openai: bool) -> Weighed:
    """One event. openai: it is one of OpenAI's chat, completions or responses streams; else any data is content."""
    name, data = data_of(event)
    if name == b"error":
        return Weighed(Weight.ERROR, _sentence(data))
    if not data or data == b"[DONE]":
        return _NOTHING
    try:
        found = decoded(data)
    except ValueError:
        return Weighed(Weight.ERROR, "an event that is no JSON") if openai else _CONTENT
    if not isinstance(found, dict):
        return _NOTHING if openai else _CONTENT
    if found.get("error") or found.get("type") in ("error", "response.failed"):
        return Weighed(Weight.ERROR, _sentence(data))
    return _openai(found) if openai else _CONTENT


def _openai(found: Mapping[str, Any]) -> Weighed:
    choices = found.get("choices")
    if isinstance(choices, list):
        return _CONTENT if any(isinstance(one, dict) and _has_content(one) for one in choices) else _NOTHING
    kind = found.get("type")
    if isinstance(kind, str):
        last = kind in ("response.completed", "response.incomplete", "message_stop")
        return _CONTENT if last or found.get("delta") else _NOTHING
    return _CONTENT


def _has_content(choice: Mapping[str, Any]) -> bool:
    delta = choice.get("delta")
    if isinstance(delta, dict) and any(value for key, value in delta.items() if key != "role"):
        return True
    return bool(choice.get("text") or choice.get("finish_reason"))


def _sentence(data: bytes) -> str:
    try:
        found = decoded(data)
    except ValueError:
        return data[:_MOST_SENTENCE].decode(errors="replace")
    error = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    return str(error)[:_MOST_SENTENCE]
