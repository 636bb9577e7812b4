"""YAML files of people: read as JSON where they are that, else by the YAML reader that the base install brings."""

import json
from pathlib import Path
from typing import Any


def read(path: str) -> Any:
    """What the file holds; ValueError says in one sentence what is wrong with it."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        return json.loads(text)
    except ValueError:
        return _yaml(path, text)


def _yaml(path: str, text: str) -> Any:
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ImportError:
        raise ValueError(f"{path} is not JSON, and no YAML reader is installed: write it as JSON") from None
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ValueError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
