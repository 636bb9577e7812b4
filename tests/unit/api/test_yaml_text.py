"""YAML is read by the rules of version 1.2, with the line of every field."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.api.yaml_text import YAMLTextError, read_documents

VALUES: dict[str, tuple[str, Any]] = {
    "a time of day stays text": ("12:00:00", "12:00:00"),
    "a date stays text": ("2026-01-02", "2026-01-02"),
    "a moment stays text": ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
    "a time limit with days stays text": ("2-00:00:00", "2-00:00:00"),
    "minutes and seconds stay text": ("1:30", "1:30"),
    **{f"{word} stays text": (word, word) for word in ("on", "Off", "yes", "NO", "y", "N")},
    "True is a boolean": ("True", True),
    "a tilde is null": ("~", None),
    "tagged text is text": ("!!str 5", "5"),
    "a number with underscores is text": ("1_000", "1_000"),
    "a number with commas is text": ("1,000", "1,000"),
    "a binary number is text": ("0b11", "0b11"),
    "a hexadecimal number is one": ("0x1F", 31),
    "a line under a sign is text": ("-_", "-_"),
    "an octal number is one": ("0o17", 15),
    "zero is a number": ("0", 0),
    "a quoted octal number is text": ("'0644'", "0644"),
    "a version is text": ("1.2.3", "1.2.3"),
    "an exponent makes a number": ("1e3", 1000.0),
    "a point alone is text": (".", "."),
    "an equals sign is text": ("=", "="),
    "the mark of a merge is text as a value": ("[<<]", ["<<"]),
    "true is a boolean": ("true", True),
    "nothing is null": ("", None),
    "a whole number is one": ("31", 31),
    "a quoted number is text": ('"31"', "31"),
    "a number with a point is one": ("2.5", 2.5),
    "a pair of surrogates is one character": (r'"\ud83d\ude00"', "\U0001f600"),
    "half of such a pair stays": (r'"\ud83d"', "\ud83d"),
    "flow style nests": ("{a: [1, {b: c}]}", {"a": [1, {"b": "c"}]}),
    "a block of text keeps its lines": ("|\n  one\n  two\n", "one\ntwo\n"),
}


@pytest.mark.parametrize(("text", "want"), VALUES.values(), ids=VALUES.keys())
def test_value(text: str, want: Any) -> None:
    (document,) = read_documents(f"value: {text}")
    assert document.fields == {"value": want}


def test_anchors_and_merge_keys_work_and_own_fields_win() -> None:
    (document,) = read_documents("a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], z: 3}\nd: *a\n")
    assert document.fields["c"] == {"x": 1, "y": 1, "z": 3}
    assert document.fields["d"] == {"x": 1, "y": 1}


def test_json_with_tabs_is_read() -> None:
    (document,) = read_documents('{\n\t"a": {\n\t\t"b": [1, 2]\n\t}\n}\n')
    assert document.fields == {"a": {"b": [1, 2]}}


def test_empty_documents_are_passed_over() -> None:
    documents = read_documents("---\n# nothing\n---\na: 1\n---\nnull\n---\nb: 2\n")
    assert [document.fields for document in documents] == [{"a": 1}, {"b": 2}]


def test_every_field_has_its_line_and_a_missing_one_that_of_its_parent() -> None:
    _, document = read_documents("first: 1\n---\nspec:\n  list:\n  - a: 1\n  -\n    b: 2\n")
    assert document.line("spec") == 3
    assert document.line("spec.list[1].b") == 7
    assert document.line("spec.list[0].gone.deeper") == 5
    assert document.line("status") == 3


OTHERWISE = {
    "yes": ("yes", "yes is text here and true to kubectl"),
    "Off": ("Off", "Off is text here and false to kubectl"),
    "1_000": ("1_000", "1_000 is text here and a number to kubectl"),
    "0b11": ("0b11", "0b11 is text here and a number to kubectl"),
}


@pytest.mark.parametrize(("word", "want"), OTHERWISE.values(), ids=OTHERWISE.keys())
def test_a_word_that_kubectl_reads_otherwise_is_told_once_with_its_line(word: str, want: str) -> None:
    (document,) = read_documents(f"a: 1\nb: &b\n  - {word}\nc: *b\n")
    (ambiguity,) = document.ambiguities
    assert str(ambiguity).startswith(want)
    assert ambiguity.line == 3


@pytest.mark.parametrize("text", ["'yes'", '"1_000"', "12:00:00", "true", "|\n  yes\n", "1000", "2026-01-02", "0o17"])
def test_what_every_reader_reads_alike_is_not_told(text: str) -> None:
    (document,) = read_documents(f"a: {text}")
    assert document.ambiguities == ()


BROKEN = {
    "a number that begins with zero": (
        "a: 1\nb: 0644\n",
        2,
        "0644 is the number 644 by YAML 1.2 and 420 to kubectl; write 0o644 or 644, whichever is meant, or text in",
    ),
    "a number that begins with zero and is not octal": ("a: 08\n", 1, "08 is no number to every reader; write 8, or"),
    "a tab": ("a:\n\tb: 1\n", 2, "a tab cannot indent YAML; write spaces instead"),
    "a key written twice": ("a: 1\nb: 2\na: 3\n", 3, '"a" is written twice in the same place; keep one of them'),
    "a key written twice further in": ("s:\n  - {a: 1, a: 2}\n", 2, '"a" is written twice'),
    "a colon too many": ("a: b: c\n", 1, "not valid YAML: mapping values are not allowed here"),
    "an open bracket": ("a: [1\nb: 2\n", 2, "not valid YAML: expected ',' or ']'"),
    "an unknown anchor": ("a: *b\n", 1, "not valid YAML: found undefined alias"),
    "a value of another kind": ("a: !!binary aGk=\n", 1, "a value of type binary has no place in a manifest"),
    "a tag of somebody's own": ("a: !mine 1\n", 1, "not valid YAML: could not determine a constructor"),
    "an anchor that contains itself": ("a: &a [*a]\n", 1, "does an anchor contain itself?"),
    "a list as a key": ("? [a]\n: 1\n", 1, "a field name must be text"),
    "a merge of no object": ("a: {<<: 1}\n", 1, "<<: must be followed by an alias of an object"),
    "brackets without end": ("[" * 1000, 1, "nested more than 100 levels deep"),
    "text that is tagged as a number": ("a: 1\nb: !!int abc\n", 2, "this cannot be read as int; put text in quotes"),
    "text that is tagged as a truth": ("a: !!bool maybe\n", 1, "this cannot be read as bool"),
    "a number of 5000 digits": ("a: " + "9" * 5000, 1, "this cannot be read as int"),
    "a number of 5000 hexadecimal digits": ("a: 0x" + "f" * 5000, 1, "more than 64 bits"),
    "a number of 65 bits": ("a: 18446744073709551616", 1, "more than 64 bits"),
    "an escape beyond the last character": ('a: "\\U00110000"', 1, "no character beyond"),
    "a control character": ("a: \x01\n", 1, "not valid YAML"),
    "a few anchors that stand for a million fields": (
        "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
        "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
        1,
        "more than 100000 fields",
    ),
}


@pytest.mark.parametrize(("text", "line", "want"), BROKEN.values(), ids=BROKEN.keys())
def test_what_cannot_be_read_gets_one_sentence_with_its_line(text: str, line: int, want: str) -> None:
    with pytest.raises(YAMLTextError) as caught:
        list(read_documents(text))
    assert want in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.line == line
