"""Writes plain objects as YAML that every reader reads alike, in the order of their fields."""

from __future__ import annotations

import io
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

# Text that neither YAML 1.1 nor 1.2 takes for anything else; every other text is put in quotes.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*")
_NOT_PLAIN = re.compile(r"y|n|yes|no|on|off|true|false|null|nan|inf", re.IGNORECASE)
_BLOCK = re.compile(r"[\x20-\x7e]*[\x21-\x7e]\n([\x20-\x7e]*[\x21-\x7e]\n|\n)*", re.ASCII)


class _Representer(RoundTripRepresenter):
    def ignore_aliases(self, data: Any) -> bool:
        """Everything is written out."""
        return True

    def represent_text(self, text: str) -> ScalarNode:
        """Text: plain where that is safe, a block where it has lines, else in quotes."""
        if _PLAIN.fullmatch(text) and not _NOT_PLAIN.fullmatch(text):
            style = None
        else:
            style = "|" if "\n" in text and _BLOCK.fullmatch(text) and not text.startswith(" ") else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Representer.add_representer(str, _Representer.represent_text)


def yaml_text(fields: Any) -> str:
    """The YAML of plain objects; deterministic."""
    yaml = YAML()
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.width = 1 << 20
    yaml.indent(mapping=2, sequence=4, offset=2)
    text = io.StringIO()
    yaml.dump(fields, text)
    return text.getvalue()
