"""One version, wherever it is written."""

import re
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML


@pytest.fixture
def version(root: Path) -> str:
    """The version of the distribution."""
    return str(tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"])


def test_the_changelog_begins_with_what_is_unreleased_or_with_this_version(root: Path, version: str) -> None:
    first = re.search(r"^## \[?([^\]\s]+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None
    assert first[1] in ("Unreleased", version)


def test_the_chart_installs_this_version(root: Path, version: str) -> None:
    chart = YAML(typ="safe").load(root / "charts" / "hedgerow" / "Chart.yaml")
    assert str(chart["appVersion"]) == version
