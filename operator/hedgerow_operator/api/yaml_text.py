"""Reads YAML 1.2 (and so JSON) into plain objects and remembers the line of each field."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

# Far above any manifest; a few lines of anchors can stand for billions of fields.
_MAX_FIELDS = 100_000
_MAX_DEPTH = 100
_MAX_BITS = 64

_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_NUMBERS = (f"{_TAG}int", f"{_TAG}float")
# The core schema (yaml.org/spec/1.2.2, section 10.3.2). ruamel.yaml reads what 1.1 called a number too: 1_000, 0b11.
_NUMBER = re.compile(
    r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_FORMER_NUMBER = re.compile(r".*_|[-+]?0[box]")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_OCTAL = re.compile(r"[-+]?0[0-7]+")
# What readers of YAML 1.1, kubectl among them, take for something else than text.
_TRUTHS = {"true": ("y", "yes", "on"), "false": ("n", "no", "off")}
_OTHERWISE = {
    form: truth
    for truth, words in _TRUTHS.items()
    for word in words
    for form in (word, word.upper(), word.capitalize())
}
_OTHER_NUMBER = re.compile(r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]*_[0-9a-fA-F_]*|[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?)")


class YAMLTextError(ValueError):
    """Text that cannot be read, in one sentence; line counts from 1."""

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


@dataclass(frozen=True)
class Ambiguity:
    """Text that readers of YAML 1.1, such as kubectl, take for something else. there: for what."""

    line: int
    word: str
    there: str

    def __str__(self) -> str:
        return f"{self.word} is text here and {self.there} to kubectl; put it in quotes if it is text"


@dataclass(frozen=True)
class Document:
    """One YAML document. lines: place, such as spec.health.phases[1], to the line that it is written in."""

    fields: Any
    lines: Mapping[str, int]
    ambiguities: tuple[Ambiguity, ...] = ()

    def line(self, at: str) -> int:
        """The line of this place, or of the nearest thing around it that was written."""
        while at and at not in self.lines:
            at = at[: max(at.rfind("."), at.rfind("["), 0)]
        return self.lines.get(at, 1)


def read_documents(text: str) -> Iterator[Document]:
    """Every document that holds something; YAMLTextError at the first thing that cannot be read."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    try:
        for node in yaml.compose_all(io.StringIO(text)):
            if node is None or node.tag == f"{_TAG}null":
                continue
            reader = _Reader(yaml.constructor)
            fields = reader.read(node, "")
            yield Document(fields, reader.lines, tuple(reader.ambiguities.values()))
    except YAMLTextError:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YAMLTextError(_sentence(error), mark.line + 1 if mark else 1) from None
    except YAMLError as error:
        raise YAMLTextError(f"not valid YAML: {error}".splitlines()[0], 1) from None
    except RecursionError:
        raise YAMLTextError(f"nested more than {_MAX_DEPTH} levels deep", 1) from None
    except (ValueError, OverflowError):  # ruamel.yaml: an escape beyond the last character
        raise YAMLTextError(r"not valid YAML: there is no character beyond \U0010FFFF", 1) from None


class _Constructor(SafeConstructor):
    """Scalars by the rules of YAML 1.2's core schema, where a date is text."""


_Constructor.add_constructor(f"{_TAG}timestamp", SafeConstructor.construct_yaml_str)


class _Reader:
    def __init__(self, constructor: Any) -> None:
        self.lines: dict[str, int] = {}
        self.ambiguities: dict[int, Ambiguity] = {}  # by the node, which an alias repeats
        self._constructor = constructor
        self._fields = 0

    def read(self, node: Node, at: str, depth: int = 0) -> Any:
        self._fields += 1
        if self._fields > _MAX_FIELDS or depth > _MAX_DEPTH:
            raise YAMLTextError(
                f"more than {_MAX_FIELDS} fields or {_MAX_DEPTH} levels; does an anchor contain itself?", _line(node)
            )
        self.lines.setdefault(at, _line(node))
        if isinstance(node, MappingNode):
            return self._mapping(node, at, depth)
        if isinstance(node, SequenceNode):
            return [self.read(entry, f"{at}[{index}]", depth + 1) for index, entry in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, at: str, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                merged = self._merged(value, at, depth) | merged
                continue
            name = self._name(key)
            if name in fields:
                raise YAMLTextError(f'"{name}" is written twice in the same place; keep one of them', _line(key))
            inner = f"{at}.{name}" if at else name
            self.lines[inner] = _line(key)
            fields[name] = self.read(value, inner, depth + 1)
        return merged | fields

    def _merged(self, node: Node, at: str, depth: int) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for source in reversed(node.value if isinstance(node, SequenceNode) else [node]):
            fields = self.read(source, at, depth + 1)
            if not isinstance(fields, dict):
                raise YAMLTextError("<<: must be followed by an alias of an object, such as *defaults", _line(node))
            merged |= fields
        return merged

    def _name(self, key: Node) -> str:
        if not isinstance(key, ScalarNode):
            raise YAMLTextError("a field name must be text", _line(key))
        return _joined(str(key.value))

    def _scalar(self, node: Node) -> Any:
        if isinstance(node, ScalarNode) and node.style is None:
            self._note(node)
            if _is_plain_text(node):
                return _joined(node.value)
        try:
            value = self._constructor.construct_object(node)
        except (ValueError, KeyError, OverflowError):  # its tag promises what the text does not hold, or it is endless
            raise YAMLTextError(f"this cannot be read as {_kind(node)}; put text in quotes", _line(node)) from None
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise YAMLTextError(f"a whole number of more than {_MAX_BITS} bits; write a smaller one", _line(node))
        if isinstance(value, str):
            return _joined(value)
        if value is not None and not isinstance(value, bool | int | float | str):
            raise YAMLTextError(f"a value of type {_kind(node)} has no place in a manifest", _line(node))
        return value

    def _note(self, node: Node) -> None:
        """Remember a word that not every reader reads alike; YAMLTextError where that is sure to harm."""
        word = str(node.value)
        if _LEADING_ZERO.fullmatch(word) and node.tag in _NUMBERS:
            raise YAMLTextError(_zero_sentence(word), _line(node))
        if word in _OTHERWISE:
            there = _OTHERWISE[word]
        elif _OTHER_NUMBER.fullmatch(word):
            there = "a number"
        else:
            return
        self.ambiguities.setdefault(id(node), Ambiguity(_line(node), word, there))


def _zero_sentence(word: str) -> str:
    decimal = word.lstrip("+-").lstrip("0") or "0"
    if not _OCTAL.fullmatch(word):
        return f"{word} is no number to every reader; write {decimal}, or text in quotes"
    octal = f"0o{decimal}"
    return (
        f"{word} is the number {int(word)} by YAML 1.2 and {int(word, 8)} to kubectl; write {octal} or {decimal}, "
        "whichever is meant, or text in quotes"
    )


def _is_plain_text(node: Node) -> bool:
    """Whether YAML 1.2 calls text what ruamel.yaml takes for a number, or for the marks of YAML 1.1."""
    if node.tag in _NUMBERS:
        return _FORMER_NUMBER.match(node.value) is not None and _NUMBER.fullmatch(node.value) is None
    return node.tag in (f"{_TAG}value", _MERGE)


def _joined(text: str) -> str:
    """The text with each pair of surrogates as the one character that JSON means by it; a half stays."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _kind(node: Node) -> str:
    return str(node.tag).removeprefix(_TAG)


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _sentence(error: MarkedYAMLError) -> str:
    problem = str(error.problem or error.context or "cannot be read").splitlines()[0]
    if "\\t" in problem:
        return "a tab cannot indent YAML; write spaces instead"
    return f"not valid YAML: {problem}"
