"""One entry of ``spec.validate``, made ready: whether it makes sense, and whether an answer keeps it.

What may take longer than a request is worth (a pattern that backtracks, a long sound) is bounded by whoever calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from typing import Any

import jmespath
import msgspec

from hedgerow_operator.api.answer_check import NEEDED, AnswerCheck
from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.core.hedging.validation.image import ImageRule, check_image
from hedgerow_operator.core.hedging.validation.json_schema import check_schema, schema_check
from hedgerow_operator.core.hedging.validation.seen import (
    Fault,
    NotInstalled,
    SeenAnswer,
    document,
    media_at,
    size_at,
    text_at,
    value_at,
)
from hedgerow_operator.core.hedging.validation.video import VideoRule, check_video
from hedgerow_operator.core.hedging.validation.wav import WavRule, check_wav

Look = Callable[[SeenAnswer], None]
# OpenAI's; "length" and "content_filter" are answers that were cut.
_FINISHED = ("stop", "tool_calls", "function_call")


def looking_for(check: AnswerCheck) -> Look:
    """A function that raises Fault, or FetchFirst when a URL has to be fetched before. Raises ValueError with a
    sentence when the check itself makes no sense. Plugin is not known here.
    """
    needed = NEEDED.get(check.type)
    if needed is not None and needed not in to_builtins(check):
        raise ValueError(f"a check of type {check.type} needs {needed}")
    if check.at is not None:
        _compiled(check.at, "at")
    return _MAKERS[check.type](check)


def fault_of(check: AnswerCheck) -> str:
    """What is wrong with the check itself, in a sentence; empty: nothing, or it cannot be told without libraries that
    only a gateway has.
    """
    if check.type == "Plugin":
        return "" if check.plugin else "a check of type Plugin needs plugin"
    try:
        looking_for(check)
    except NotInstalled:
        return ""
    except ValueError as error:
        return str(error)
    return ""


def _json_schema(check: AnswerCheck) -> Look:
    assert check.schema is not None
    fits = schema_check(check.schema)
    texts = check.schema.get("type") == "string"

    def look(seen: SeenAnswer) -> None:
        value = document(seen) if check.at is None else value_at(seen, check.at)
        check_schema(fits, value if texts else _unwrapped(value, check.at))

    return look


def _unwrapped(value: Any, at: str | None) -> Any:
    """Models answer by JSON within a text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        raise Fault(f"what is at {at} is no JSON" if at else "the answer is a text, not JSON") from None


def _content_type(check: AnswerCheck) -> Look:
    right = tuple(one.lower().strip() for one in check.content_types or ())

    def look(seen: SeenAnswer) -> None:
        found = seen.content_type.partition(";")[0].strip().lower()
        if not any(found == one or (one.endswith("/*") and found.startswith(one[:-1])) for one in right):
            raise Fault(f"its content type is {found[:80] or 'not given'}, not {' or '.join(right)}")

    return look


def _min_bytes(check: AnswerCheck) -> Look:
    least = check.min_bytes or 0

    def look(seen: SeenAnswer) -> None:
        size = size_at(seen, check.at)
        if size < least:
            raise Fault(f"the answer has {size} bytes, less than {least}")

    return look


def _regex(check: AnswerCheck) -> Look:
    try:
        pattern = re.compile(check.pattern or "")
    except re.error as error:
        raise ValueError(f"pattern is no regular expression: {error}") from None

    def look(seen: SeenAnswer) -> None:
        if pattern.search(text_at(seen, check.at)) is None:
            raise Fault("the answer does not contain what pattern asks for")

    return look


def _non_empty(check: AnswerCheck) -> Look:
    def look(seen: SeenAnswer) -> None:
        value = value_at(seen, check.at)
        if isinstance(value, bytes | str):
            value = value.strip()
        if value is None or (isinstance(value, bytes | str | list | dict) and not value):
            raise Fault(f"what is at {check.at} is empty" if check.at else "the answer is empty")

    return look


def _wav(check: AnswerCheck) -> Look:
    usual = WavRule()
    rule = WavRule(
        min_seconds=_seconds(check.min_millis, usual.min_seconds),
        max_seconds=_seconds(check.max_millis, usual.max_seconds),
        min_rms=usual.min_rms if check.min_rms is None else _share(check.min_rms),
        max_clipped=usual.max_clipped if check.max_clipped_percent is None else check.max_clipped_percent / 100,
    )
    if rule.min_seconds > rule.max_seconds:
        raise ValueError("minMillis is above maxMillis, so that no WAV can be right")
    return lambda seen: check_wav(media_at(seen, check.at), rule)


def _image(check: AnswerCheck) -> Look:
    if find_spec("PIL") is None:
        raise NotInstalled("Image")
    rule = ImageRule(min_width=check.min_width or 1, min_height=check.min_height or 1)
    return lambda seen: check_image(media_at(seen, check.at), rule)


def _video(check: AnswerCheck) -> Look:
    rule = VideoRule(
        min_bytes=check.min_bytes or 0,
        min_seconds=_seconds(check.min_millis, 0.0),
        max_seconds=None if check.max_millis is None else check.max_millis / 1000,
        min_width=check.min_width or 1,
        min_height=check.min_height or 1,
    )
    return lambda seen: check_video(media_at(seen, check.at), rule)


def _finish_reason(check: AnswerCheck) -> Look:
    right = check.finish_reasons or _FINISHED

    def look(seen: SeenAnswer) -> None:
        answer = document(seen)
        choices = answer.get("choices") if isinstance(answer, dict) else None
        if not isinstance(choices, list) or not choices:
            raise Fault("the answer has no choices")
        for choice in choices:
            reason = choice.get("finish_reason") if isinstance(choice, dict) else None
            if reason not in right:
                raise Fault(f"its finish reason is {str(reason)[:40]}, not {' or '.join(right)}")

    return look


def _expression(check: AnswerCheck) -> Look:
    compiled = _compiled(check.expression or "", "expression")

    def look(seen: SeenAnswer) -> None:
        try:
            found = compiled.search(document(seen))
        except jmespath.exceptions.JMESPathError:
            raise Fault("expression does not fit the answer") from None
        if found is not True:
            raise Fault("the answer does not make expression true")

    return look


def _compiled(expression: str, field: str) -> Any:
    try:
        return jmespath.compile(expression)
    except jmespath.exceptions.JMESPathError as error:
        told = str(error).splitlines()[0]
        raise ValueError(f"{field} is no JMESPath: {told}") from None


def _share(text: str) -> float:
    try:
        share = Decimal(text)
    except InvalidOperation:
        share = Decimal(-1)
    if not 0 <= share <= 1:
        raise ValueError(f'minRMS is {text!r}; write a number from 0 to 1 as text, such as "0.0001"')
    return float(share)


def _seconds(millis: int | None, usual: float) -> float:
    return usual if millis is None else millis / 1000


_MAKERS: dict[str, Callable[[AnswerCheck], Look]] = {
    "JSONSchema": _json_schema,
    "ContentType": _content_type,
    "MinBytes": _min_bytes,
    "Regex": _regex,
    "NonEmpty": _non_empty,
    "WAV": _wav,
    "Image": _image,
    "Video": _video,
    "FinishReason": _finish_reason,
    "Expression": _expression,
}
