"""The part of ``spec`` that watches numbers: ``alerts``, and the few forms that a condition may have."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from hedgerow_operator.api.model import StrictModel
from hedgerow_operator.api.recovery import WEEK_SECONDS

MAX_ALERTS = 32
IS_NAN = "isNaN"
IS_INFINITE = "isInfinite"
SPIKE = "spike"
ABSENT = "absent"
FORMS = "isNaN, isInfinite, > 5, >= 5, < 5, <= 5, spike, absent"
# The same expression is read by CEL (RE2) and by Python.
WHEN_PATTERN = "^(isNaN|isInfinite|spike|absent|(>|>=|<|<=) ?-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?)$"
_COMPARISON = re.compile(r"(>=|<=|>|<) ?(.*)")


class AlertSpec(StrictModel, frozen=True, kw_only=True):
    """One number to watch."""

    name: Annotated[str, Meta(description="Name of the alert, as events give it.", min_length=1, max_length=63)]
    metric: Annotated[
        str,
        Meta(
            description="What is watched: a number that the script or its log tells (loss, grad_norm, "
            "tokens_per_second, or your own), or step_seconds, memory_bytes, communication_seconds, "
            "communication_share.",
            min_length=1,
            max_length=63,
        ),
    ]
    when: Annotated[
        str,
        Meta(
            description=f"What is unusual, in one of these forms: {FORMS}. spike: far above its own past. absent: no "
            "rank tells it. On any rank is enough, except for absent.",
            min_length=1,
            max_length=63,
        ),
    ]
    for_seconds: Annotated[
        int, Meta(description="Seconds that it must last without a break.", ge=0, le=WEEK_SECONDS)
    ] = 0
    action: Annotated[
        Literal["Alert", "Stop"],
        Meta(description="Alert: an event, and the condition Degraded while it lasts. Stop: the job fails as well."),
    ] = "Alert"


class When(Struct, frozen=True):
    """A condition, read. kind: isNaN, isInfinite, spike, absent, or a sign of comparison with ``bound``."""

    kind: str
    bound: float = 0.0


def parse_when(text: str) -> When:
    """The condition in ``text``. ValueError, in one sentence, when it has none of the forms."""
    if not is_when(text):
        raise ValueError(f"{text!r} is no condition; write one of: {FORMS}")
    compared = _COMPARISON.fullmatch(text)
    return When(compared[1], float(compared[2])) if compared else When(text)


def is_when(text: str) -> bool:
    """Whether ``text`` has one of the forms."""
    return re.fullmatch(WHEN_PATTERN, text) is not None
