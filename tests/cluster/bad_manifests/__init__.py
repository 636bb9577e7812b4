"""Manifests that must be refused, each with what the refusal must say.

Every file begins with lines ``# expect: TEXT``: each TEXT stands both in what ``kubectl apply --dry-run=server`` prints
and in what Hedgerow says without a server.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_MARK = "# expect: "


@dataclass(frozen=True)
class BadManifest:
    """One file and the texts that its refusal must hold."""

    path: Path
    expected: tuple[str, ...]


def bad_manifests() -> dict[str, BadManifest]:
    """Every case by its name."""
    return {path.stem: _read(path) for path in sorted(Path(__file__).parent.glob("*.yaml"))}


def _read(path: Path) -> BadManifest:
    lines = path.read_text(encoding="utf-8").splitlines()
    expected = tuple(line.removeprefix(_MARK) for line in lines if line.startswith(_MARK))
    assert expected, f"{path.name} does not say what to expect"
    return BadManifest(path, expected)
