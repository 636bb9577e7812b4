"""Whole manifests, as they were reviewed: tests/golden/*.yaml.

After a wanted change: ``python -m tests.unit.build.test_golden`` writes them anew; review the difference.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes_validate import validate
from msgspec import structs
from ruamel.yaml import YAML

from hedgerow_operator.build.placement import placement_job
from tests.unit.build.examples import INJECTION, crowded_template, job, job_of, narrow_template, rich_template

GOLDEN = Path(__file__).parents[2] / "golden"
CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "plain-placement": lambda: placement_job(job(), 1, (), INJECTION),
    "rich-placement-without-two-nodes": lambda: placement_job(
        job(
            rich_template(),
            checkpoint={"directory": "/data/ckpt", "verify": "Size"},
            heartbeat={"source": "Log", "logPattern": "step (?P<step>\\d+)$"},
            masterPort=29500,
        ),
        3,
        ("node-b", "node-a"),
        INJECTION,
    ),
    "crowded-placement": lambda: placement_job(
        job_of({"template": crowded_template(), "container": "trainer"}), 1, (), INJECTION
    ),
    "narrow-placement": lambda: placement_job(
        job(narrow_template()), 1, (), structs.replace(INJECTION, cpu="100m", ephemeral_storage="64Mi")
    ),
}


def as_yaml(manifest: dict[str, Any]) -> str:
    """The manifest as the golden files have it."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    text = io.StringIO()
    yaml.dump(manifest, text)
    return text.getvalue()


@pytest.mark.parametrize("name", CASES)
def test_the_manifest_is_the_reviewed_one(name: str) -> None:
    assert as_yaml(CASES[name]()) == (GOLDEN / f"{name}.yaml").read_text()


@pytest.mark.parametrize("version", ["1.30", "1.34", "1.36"])
@pytest.mark.parametrize("name", CASES)
def test_the_manifest_obeys_the_schema_of_kubernetes(name: str, version: str) -> None:
    validate(CASES[name](), version, strict=True)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for case, build in CASES.items():
        (GOLDEN / f"{case}.yaml").write_text(as_yaml(build()))
