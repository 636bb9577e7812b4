"""Each kind of check: what passes it, what does not and why, and which checks make no sense."""

import base64
import sys
from importlib.util import find_spec
from typing import Any

import msgspec
import pytest

from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.core.hedging.validation import judge
from hedgerow_operator.core.hedging.validation.judge import fault_of, looking_for
from hedgerow_operator.core.hedging.validation.seen import Fault, FetchFirst, SeenAnswer
from tests.unit.hedging.validation.files import image, wav

CHAT = {"choices": [{"message": {"content": '{"n": 1}'}, "finish_reason": "stop"}]}
CONTENT = "choices[0].message.content"
NUMBER = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


def check(kind: str, **fields: Any) -> AnswerCheck:
    return AnswerCheck(type=kind, **fields)  # type: ignore[arg-type]


def http(value: Any, content_type: str = "application/json") -> SeenAnswer:
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return SeenAnswer(content_type=content_type, body=body)


def job(output: Any) -> SeenAnswer:
    return SeenAnswer(output=output, body=b'{"status": "COMPLETED"}', content_type="application/json")


def told(one: AnswerCheck, seen: SeenAnswer) -> str:
    try:
        looking_for(one)(seen)
    except Fault as fault:
        return str(fault)
    return ""


GOOD = {
    "JSON that fits the schema": (check("JSONSchema", schema=NUMBER), http({"n": 1})),
    "a job's output that fits the schema": (check("JSONSchema", schema=NUMBER), job({"n": 1})),
    "JSON within a model's text": (check("JSONSchema", schema=NUMBER, at=CONTENT), http(CHAT)),
    "a text, where the schema is about texts": (
        check("JSONSchema", schema={"type": "string", "minLength": 3}, at=CONTENT),
        http(CHAT),
    ),
    "one of the content types": (check("ContentType", content_types=("image/png", "audio/*")), http(b"", "audio/wav")),
    "a content type with parameters": (
        check("ContentType", content_types=("text/html",)),
        http(b"", "Text/HTML; charset=utf-8"),
    ),
    "enough bytes": (check("MinBytes", min_bytes=4), http(b"1234")),
    "enough bytes of a text": (check("MinBytes", min_bytes=8, at=CONTENT), http(CHAT)),
    "enough bytes in base64 with its type": (
        check("MinBytes", min_bytes=3, at="x"),
        http({"x": "data:text/plain;base64,YWJj"}),
    ),
    "a pattern in the body": (check("Regex", pattern=r"\d{3}"), http(b"ab 123")),
    "a pattern in a job's output": (check("Regex", pattern="hello"), job({"text": "hello"})),
    "something": (check("NonEmpty"), http(b"x")),
    "something at a place": (check("NonEmpty", at=CONTENT), http(CHAT)),
    "zero is not empty": (check("NonEmpty", at="n"), http({"n": 0})),
    "a sound as the body": (check("WAV"), http(wav(), "audio/wav")),
    "a sound in base64": (check("WAV", at="audio"), job({"audio": base64.b64encode(wav()).decode()})),
    "a sound as a job's output": (check("WAV"), job(base64.b64encode(wav()).decode())),
    "an image in a list of one": (check("Image", at="images"), job({"images": [base64.b64encode(image()).decode()]})),
    "a fetched image": (check("Image", at="url"), SeenAnswer(fetched=image())),
    "a finished answer": (check("FinishReason"), http(CHAT)),
    "an answer cut as it may be": (
        check("FinishReason", finish_reasons=("length",)),
        http({"choices": [{"finish_reason": "length"}]}),
    ),
    "an expression that comes true": (check("Expression", expression="length(choices) == `1`"), http(CHAT)),
}
WITHIN = {
    "itself": {"properties": {"next": {"$ref": "#"}}},
    "a part of it": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
    "a part by its name": {"$id": "https://e.example/a", "$ref": "b", "$defs": {"b": {"$id": "b", "type": "object"}}},
    "the schema of schemas": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    "nothing: these are values": {"not": {"enum": [{"$ref": "http://x.example"}]}},
    "nothing: this is a field's name": {"properties": {"$ref": {"type": "string"}}},
}
BAD = {
    "JSON that does not fit": (check("JSONSchema", schema=NUMBER), http({"n": "x"}), "$.n breaks the schema's type"),
    "no JSON": (check("JSONSchema", schema=NUMBER), http(b"<html>"), "the answer is no JSON"),
    "no JSON within a text": (
        check("JSONSchema", schema=NUMBER, at="x"),
        http({"x": "sorry"}),
        "what is at x is no JSON",
    ),
    "nothing at the place": (check("JSONSchema", schema=NUMBER, at="y"), http({"x": 1}), "there is nothing at y"),
    "another content type": (
        check("ContentType", content_types=("audio/wav",)),
        http(b"", "text/html"),
        "its content type is text/html, not audio/wav",
    ),
    "too few bytes": (check("MinBytes", min_bytes=5), http(b"1234"), "the answer has 4 bytes, less than 5"),
    "no such pattern": (check("Regex", pattern="x"), http(b"y"), "the answer does not contain what pattern asks for"),
    "white space": (check("NonEmpty"), http(b" \n"), "the answer is empty"),
    "an empty list": (check("NonEmpty", at="x"), http({"x": []}), "what is at x is empty"),
    "neither base64 nor a URL": (check("WAV", at="x"), http({"x": "sorry!"}), "what is at x is neither base64 nor"),
    "a number where a sound should be": (check("WAV", at="x"), http({"x": 1}), "what is at x is neither base64 nor"),
    "an answer that was cut": (
        check("FinishReason"),
        http({"choices": [{"finish_reason": "length"}]}),
        "its finish reason is length, not stop or tool_calls or function_call",
    ),
    "no finish reason": (check("FinishReason"), http({"choices": [{}]}), "its finish reason is None, not stop"),
    "no choices": (check("FinishReason"), http([]), "the answer has no choices"),
    "an expression that comes false": (
        check("Expression", expression="length(choices) > `1`"),
        http(CHAT),
        "the answer does not make expression true",
    ),
    "an expression that is neither": (
        check("Expression", expression="choices"),
        http(CHAT),
        "the answer does not make expression true",
    ),
    "an expression that does not fit": (
        check("Expression", expression="length(n) > `1`"),
        http({"n": 1}),
        "expression does not fit the answer",
    ),
}
SENSELESS = {
    "a schema that is none": (check("JSONSchema", schema={"type": "text"}), "schema is no JSON Schema: 'text'"),
    "a schema that is elsewhere": (
        check("JSONSchema", schema={"items": {"$ref": "http://127.0.0.1:1/schema"}}),
        "schema refers to 'http://127.0.0.1:1/schema', which is not in it",
    ),
    "a part that refers to what is elsewhere": (
        check("JSONSchema", schema={"$ref": "#/parts/a", "parts": {"a": {"$ref": "https://e.example/b"}}}),
        "schema refers to 'https://e.example/b'",
    ),
    "a part that the schema does not have": (
        check("JSONSchema", schema={"$ref": "#/$defs/a"}),
        "copy it below $defs and write #/$defs/NAME",
    ),
    "an entry of a list that is called by a name": (
        check("JSONSchema", schema={"allOf": [{"$ref": "#/allOf/x"}]}),
        "schema refers to '#/allOf/x'",
    ),
    "a pattern that is none": (check("Regex", pattern="("), "pattern is no regular expression: missing )"),
    "an expression that is none": (check("Expression", expression="a["), "expression is no JMESPath"),
    "a place that is none": (check("NonEmpty", at="a["), "at is no JMESPath"),
    "a loudness that is none": (check("WAV", min_rms="loud"), "minRMS is 'loud'; write a number from 0 to 1"),
    "a length that nothing can have": (check("WAV", min_millis=9000, max_millis=10), "minMillis is above maxMillis"),
    "no schema": (check("JSONSchema"), "a check of type JSONSchema needs schema"),
    "no content types": (check("ContentType"), "a check of type ContentType needs contentTypes"),
}


@pytest.mark.parametrize("name", GOOD)
def test_passes(name: str) -> None:
    one, seen = GOOD[name]
    assert fault_of(one) == ""
    assert told(one, seen) == ""


@pytest.mark.parametrize("name", WITHIN)
def test_a_schema_may_refer_to(name: str) -> None:
    one = check("JSONSchema", schema=WITHIN[name])
    assert fault_of(one) == ""
    assert told(one, http({})) == ""


@pytest.mark.parametrize("name", BAD)
def test_does_not_pass(name: str) -> None:
    one, seen, why = BAD[name]
    assert fault_of(one) == ""
    assert why in told(one, seen)


@pytest.mark.parametrize("name", SENSELESS)
def test_is_refused_with_a_sentence_before_anything_is_asked(name: str) -> None:
    one, why = SENSELESS[name]
    assert why in fault_of(one)


@pytest.mark.parametrize(
    ("one", "library"), [(check("Image"), "PIL"), (check("JSONSchema", schema=NUMBER), "jsonschema")]
)
def test_without_its_library_a_gateway_says_what_to_install_and_an_operator_cannot_tell(
    one: AnswerCheck, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "find_spec", lambda name: None if name == library else find_spec(name))
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ValueError, match=r"needs hedgerow\[gateway\]; install it"):
        looking_for(one)
    assert fault_of(one) == ""


@pytest.mark.parametrize("kind", ["WAV", "Image", "Video", "MinBytes"])
def test_a_file_that_is_elsewhere_has_to_be_fetched_first(kind: str) -> None:
    look = looking_for(check(kind, at="url", **({"min_bytes": 1} if kind == "MinBytes" else {})))
    with pytest.raises(FetchFirst) as first:
        look(http({"url": "https://files.example/a.wav?signature=1"}))
    assert first.value.url == "https://files.example/a.wav?signature=1"
