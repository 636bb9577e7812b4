"""Secrets where there is no cluster: files DIR/NAME/KEY, or environment variables HEDGEROW_SECRET_NAME_KEY."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

PREFIX = "HEDGEROW_SECRET_"
# Keys that adapters look for; a variable's name has no small letters by custom.
_KNOWN_KEYS = ("apiKey", "tokenId", "tokenSecret", "agentToken")
_MOST_BYTES = 1024 * 1024


class SecretMissingError(ValueError):
    """A sentence: which one, and where it was looked for. Never holds a value."""


class SecretSource(Protocol):
    """Where Secrets are read."""

    async def read(self, namespace: str, name: str) -> Mapping[str, bytes]:
        """Its entries. Raises SecretMissingError."""


class LocalSecrets:
    """folder: with a folder for each Secret; None: only the environment is looked at. Namespaces share them."""

    def __init__(self, folder: Path | None, environment: Mapping[str, str] = os.environ) -> None:
        self._folder, self._environment = folder, environment

    async def read(self, namespace: str, name: str) -> Mapping[str, bytes]:
        """See SecretSource. Files come first."""
        prefix = PREFIX + re.sub(r"[^A-Z0-9]", "_", name.upper()) + "_"
        found = self._files(name) or {
            _key(variable.removeprefix(prefix)): value.encode()
            for variable, value in self._environment.items()
            if variable.startswith(prefix) and variable != prefix
        }
        if not found:
            where = f"files {self._folder / name}/KEY" if self._folder is not None else "--secrets DIR with NAME/KEY"
            raise SecretMissingError(f"there is no Secret {name} here; write {where}, or set {prefix}KEY")
        return found

    def _files(self, name: str) -> dict[str, bytes]:
        folder = self._folder / name if self._folder is not None else None
        if folder is None or not folder.is_dir():
            return {}
        try:
            return {path.name: _content(path) for path in sorted(folder.iterdir()) if _is_entry(path)}
        except OSError as error:
            raise SecretMissingError(f"the Secret {name} cannot be read in {folder}: {error.strerror}") from None


def _is_entry(path: Path) -> bool:
    """Not what editors and mounted Secrets leave beside."""
    return path.is_file() and not path.name.startswith(".")


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES)


def _key(text: str) -> str:
    plain = text.replace("_", "").lower()
    return next((key for key in _KNOWN_KEYS if key.lower() == plain), text)
