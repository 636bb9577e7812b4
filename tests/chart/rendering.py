"""The chart, rendered by real Helm without a cluster."""

from __future__ import annotations

import copy
import functools
import re
import subprocess
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.cluster.testbed import build

CHART = Path(__file__).resolve().parents[2] / "charts" / "hedgerow"


class HelmError(Exception):
    """Helm refused; the message is what it printed."""


def helm(*arguments: str) -> str:
    """What Helm prints; HelmError when it fails."""
    done = subprocess.run([build.binaries() / "helm", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HelmError(done.stderr)
    return done.stdout


def render(*settings: str, release: str = "hedgerow") -> list[dict[str, Any]]:
    """The objects of the chart, with ``--set`` for each of ``settings`` (KEY=VALUE); the caller's own copy."""
    return copy.deepcopy(_rendered(settings, release))


# Many tests look at the same rendering.
@functools.cache
def _rendered(settings: tuple[str, ...], release: str) -> list[dict[str, Any]]:
    chosen = [word for setting in settings for word in ("--set", setting)]
    text = helm("template", release, str(CHART), "--namespace", "hedgerow-system", *chosen)
    return [entry for document in re.split(r"^---$", text, flags=re.MULTILINE) if (entry := _read(document))]


# Most of the cost is the reading, and most documents, the long CRDs first, are the same in every rendering.
@functools.cache
def _read(document: str) -> Any:
    return YAML(typ="safe", pure=True).load(document)


def only(objects: list[dict[str, Any]], kind: str, name: str = "", namespace: str = "") -> dict[str, Any]:
    """The one object of this kind (and name, and namespace)."""
    (found,) = (
        entry
        for entry in objects
        if entry["kind"] == kind
        and name in ("", entry["metadata"]["name"])
        and namespace in ("", entry["metadata"].get("namespace"))
    )
    return found
