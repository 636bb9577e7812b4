"""Writes plain objects as YAML that every reader reads alike, in the order of their fields."""

from __future__ import annotations

import re
from typing import Any

import yaml

# Text that neither YAML 1.1 nor 1.2 takes for anything else; every other text is put in quotes.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*")
_NOT_PLAIN = re.compile(r"y|n|yes|no|on|off|true|false|null|nan|inf", re.IGNORECASE)
_BLOCK = re.compile(r"[\x20-\x7e]*[\x21-\x7e]\n([\x20-\x7e]*[\x21-\x7e]\n|\n)*", re.ASCII)
# By libyaml where it is there, as in all wheels of PyYAML: a state file is written at each change.
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Writer(_Dumper):  # type: ignore[misc]
    def ignore_aliases(self, data: Any) -> bool:
        """Everything is written out."""
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Text: plain where that is safe, a block where it has lines, else in quotes."""
        if _PLAIN.fullmatch(text) and not _NOT_PLAIN.fullmatch(text):
            style = None
        else:
            style = "|" if "\n" in text and _BLOCK.fullmatch(text) and not text.startswith(" ") else '"'
        node: yaml.ScalarNode = self.represent_scalar("tag:yaml.org,2002:str", text, style=style)
        return node


_Writer.add_representer(str, _Writer.represent_text)


def yaml_text(fields: Any) -> str:
    """The YAML of plain objects; deterministic."""
    text: str = yaml.dump(
        fields, Dumper=_Writer, default_flow_style=False, sort_keys=False, width=1 << 20, allow_unicode=True
    )
    return text
