"""What is written as YAML comes back the same, from readers of either version."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from hedgerow_operator.api.yaml_text import read_documents
from hedgerow_operator.api.yaml_writing import yaml_text

WORDS = (
    "yes", "No", "on", "OFF", "y", "N", "true", "null", "~", "", " ", "12:00:00", "1:30", "0644", "1_000", "0b11",
    "1e3", ".5", "1.", ".inf", ".nan", "2026-01-02", "=", "<<", "- a", "a: b", "a #b", "#a", "&a", "*a", "!a", "%a",
    "@a", "`a", "'a'", '"a"', "a\n", "a\nb\n", "a\n\nb\n", " a\nb\n", "a\nb", "a \nb\n", "\ta", "a\tb\n", "{a}", "[a]",
    "a,b", "a:b", "?", "-", "--", "---", "…", "\u2028", "\x85", "\U0001f600", "http://a:80/b", "8e6", "0x1F", "0o17",
    "a\n#b\n", "\n", "\n\n", "a\n\n",
)  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.sampled_from(WORDS)
    | st.text("ab \n:#-'\"0", max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
@pytest.mark.parametrize("word", WORDS)
def test_text_stays_text(word: str, version: tuple[int, int]) -> None:
    reader = YAML(typ="safe", pure=True)
    reader.version = version
    assert reader.load(yaml_text({"a": [word], word: 1})) == {"a": [word], word: 1}


@given(VALUES)
def test_whatever_is_written_is_read_back(value: Any) -> None:
    (document,) = read_documents(yaml_text({"a": value}))
    assert document.fields == {"a": value}
    assert document.ambiguities == ()


def test_the_order_of_fields_is_kept_and_scripts_are_readable() -> None:
    text = yaml_text({"b": 1, "a": ["x y", "-c", "set -e\ntorchrun a.py\n"]})
    assert text == 'b: 1\na:\n- "x y"\n- "-c"\n- |\n  set -e\n  torchrun a.py\n'
