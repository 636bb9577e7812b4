"""What goes to a checking process and what comes back, as msgpack with its length before it."""

from typing import Any

from msgspec import Struct

from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.core.hedging.validation.seen import SeenAnswer

HEAD_BYTES = 4
MOST_BYTES = 1 << 30


class Question(Struct, frozen=True):
    """One check of one answer."""

    check: AnswerCheck
    seen: SeenAnswer


class Finding(Struct, frozen=True):
    """fault: why the answer is none, empty: it is one. fetch: what is to be fetched before it can be told."""

    fault: str = ""
    fetch: str = ""


class PluginAnswer(Struct, frozen=True, kw_only=True):
    """What a plugin is given: an entry point of the group hedgerow.validators, a function of this and of the check's
    ``options`` that returns why the answer is none, in a sentence, or nothing. output: of a job, decoded.
    """

    content_type: str
    body: bytes
    output: Any
