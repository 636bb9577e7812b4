"""An answer as checks see it, and the value in it that one of them is about."""

import base64
import binascii
from typing import Any

import jmespath
import msgspec
from msgspec import Struct

_DATA_URL = "data:"
_WEB = ("http://", "https://")


class SeenAnswer(Struct, frozen=True, kw_only=True):
    """body: of an HTTP answer; output: of a job, decoded, None where there is none. fetched: what the URL that was
    found in it has held; None: not fetched.
    """

    content_type: str = ""
    body: bytes = b""
    output: Any = None
    fetched: bytes | None = None


class Fault(Exception):
    """The answer is none; the message says why, in a sentence without the answer's words."""


class NotInstalled(ValueError):
    """Only a gateway needs the library; the message says what to install."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"a check of type {kind} needs hedgerow[gateway]; install it")


class FetchFirst(Exception):
    """The value is at this URL."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


def document(seen: SeenAnswer) -> Any:
    """The answer as JSON. Raises Fault."""
    if seen.output is not None:
        return seen.output
    try:
        return msgspec.json.decode(seen.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Fault("the answer is no JSON") from None


def value_at(seen: SeenAnswer, at: str | None) -> Any:
    """What JMESPath ``at`` finds, or the whole: of a job its output, else the body's bytes. Raises Fault."""
    if at is None:
        return seen.output if seen.output is not None else seen.body
    found = jmespath.search(at, document(seen))
    if found is None:
        raise Fault(f"there is nothing at {at}")
    return found


def media_at(seen: SeenAnswer, at: str | None) -> bytes:
    """The bytes of a file: as they are, from base64, or from a URL. Raises Fault and FetchFirst."""
    if seen.fetched is not None:
        return seen.fetched
    value = value_at(seen, at)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bytes):
        return value
    where = f"what is at {at}" if at else "the answer"
    if not isinstance(value, str):
        raise Fault(f"{where} is neither base64 nor a URL")
    if value.lower().startswith(_WEB):
        raise FetchFirst(value)
    _head, _, coded = value.partition(",") if value.startswith(_DATA_URL) else ("", "", value)
    try:
        return base64.b64decode("".join(coded.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Fault(f"{where} is neither base64 nor a URL") from None


def text_at(seen: SeenAnswer, at: str | None) -> str:
    """As text; JSON that is no text as it is written. Raises Fault."""
    value = value_at(seen, at)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def size_at(seen: SeenAnswer, at: str | None) -> int:
    """In bytes: of a file, where there is a URL or a data URL, else of the text. Raises Fault and FetchFirst."""
    if seen.fetched is not None:
        return len(seen.fetched)
    value = value_at(seen, at)
    if isinstance(value, str) and value.lower().startswith((*_WEB, _DATA_URL)):
        return len(media_at(seen, at))
    return len(value) if isinstance(value, bytes) else len(text_at(seen, at).encode())
