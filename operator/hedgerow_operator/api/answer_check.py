"""One entry of ``spec.validate`` of an InferenceEndpoint: what an answer must keep to win."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.model import StrictModel

CheckType = Literal[
    "JSONSchema", "ContentType", "MinBytes", "Regex", "NonEmpty", "WAV", "Image", "Video", "FinishReason", "Expression",
    "Plugin",
]  # fmt: skip

# Fields by the types that read them. A type that reads none of these needs nothing.
READ_BY: dict[str, tuple[str, ...]] = {
    "at": ("MinBytes", "Regex", "NonEmpty", "WAV", "Image", "Video", "JSONSchema"),
    "schema": ("JSONSchema",),
    "contentTypes": ("ContentType",),
    "minBytes": ("MinBytes", "Video"),
    "pattern": ("Regex",),
    "minMillis": ("WAV", "Video"),
    "maxMillis": ("WAV", "Video"),
    "minRMS": ("WAV",),
    "maxClippedPercent": ("WAV",),
    "minWidth": ("Image", "Video"),
    "minHeight": ("Image", "Video"),
    "finishReasons": ("FinishReason",),
    "expression": ("Expression",),
    "plugin": ("Plugin",),
    "options": ("Plugin",),
}
# Types that say nothing without this field.
NEEDED = {
    "JSONSchema": "schema",
    "ContentType": "contentTypes",
    "MinBytes": "minBytes",
    "Regex": "pattern",
    "Expression": "expression",
    "Plugin": "plugin",
}


class AnswerCheck(StrictModel, frozen=True, kw_only=True):
    """What is looked at depends on ``type``; what is unset has the default that is said."""

    type: Annotated[CheckType, Meta(description="What is looked at.")]
    at: (
        Annotated[
            str,
            Meta(
                description="JMESPath to the value in a JSON answer: text, base64, or a URL that is fetched; unset: "
                "the whole answer.",
                min_length=1,
                max_length=1024,
            ),
        ]
        | None
    ) = None
    schema: Annotated[
        dict[str, Any] | None,
        Meta(
            description="With JSONSchema: the schema.", extra_json_schema={"x-kubernetes-preserve-unknown-fields": True}
        ),
    ] = None
    content_types: (
        Annotated[
            tuple[Annotated[str, Meta(max_length=128)], ...],
            Meta(description="With ContentType: those that are right, such as audio/wav.", min_length=1, max_length=16),
        ]
        | None
    ) = None
    min_bytes: Annotated[int, Meta(description="Least length in bytes.", ge=1, le=1 << 40)] | None = None
    pattern: (
        Annotated[str, Meta(description="With Regex: what the text must contain.", min_length=1, max_length=1024)]
        | None
    ) = None
    min_millis: Annotated[int, Meta(description="Least duration; unset with WAV: 500.", ge=0, le=86_400_000)] | None = (
        None
    )
    max_millis: (
        Annotated[int, Meta(description="Longest duration; unset with WAV: 120000.", ge=1, le=86_400_000)] | None
    ) = None
    min_rms: (
        Annotated[
            str,
            Meta(description='With WAV: how loud at least, of 1; unset: "0.0001".', min_length=1, max_length=20),
        ]
        | None
    ) = msgspec.field(default=None, name="minRMS")
    max_clipped_percent: (
        Annotated[int, Meta(description="With WAV: samples at the limit; unset: 1.", ge=0, le=100)] | None
    ) = None
    min_width: Annotated[int, Meta(description="Least width in pixels.", ge=1, le=65_535)] | None = None
    min_height: Annotated[int, Meta(description="Least height in pixels.", ge=1, le=65_535)] | None = None
    finish_reasons: (
        Annotated[
            tuple[Annotated[str, Meta(max_length=64)], ...],
            Meta(
                description="Those that are right; unset: stop, tool_calls, function_call.", min_length=1, max_length=16
            ),
        ]
        | None
    ) = None
    expression: (
        Annotated[
            str,
            Meta(description="With Expression: JMESPath that must come to true.", min_length=1, max_length=4096),
        ]
        | None
    ) = None
    plugin: Annotated[
        str,
        Meta(description="With Plugin: name of an entry point in the group hedgerow.validators.", min_length=1,
             max_length=128),
    ] | None = None  # fmt: skip
    options: Annotated[
        dict[str, Any] | None,
        Meta(
            description="With Plugin: what it is told.",
            extra_json_schema={"x-kubernetes-preserve-unknown-fields": True},
        ),
    ] = None
