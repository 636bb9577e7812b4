"""hedgerow check looks at endpoints and their providers together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.api.manifests import Source, parse_manifests
from hedgerow_operator.api.yaml_writing import yaml_text
from hedgerow_operator.cli.check_parts.endpoints import findings

ENDPOINT: dict[str, Any] = {"protocol": "Job", "providers": [{"name": "a", "providerRef": {"name": "p"}}]}
PROVIDER: dict[str, Any] = {"type": "Simulated"}


def written(endpoint: dict[str, Any], provider: dict[str, Any] | None) -> str:
    """Both as one file."""
    specs = {("InferenceEndpoint", "tts"): endpoint, ("ServerlessProvider", "p"): provider}
    return "---\n".join(
        yaml_text({"apiVersion": "hedgerow.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
        for (kind, name), spec in specs.items()
        if spec is not None
    )


CASES: dict[str, tuple[dict[str, Any], dict[str, Any] | None, str, str]] = {
    "a provider that is written elsewhere": (ENDPOINT, None, "warning", "ServerlessProvider p is not written here"),
    "a budget without a price": ({**ENDPOINT, "budget": {"hourlyUSD": "1"}}, PROVIDER, "error", "needs the price of p"),
    "a schema that is none": ({**ENDPOINT, "validate": [{"type": "JSONSchema", "schema": {"type": "objekt"}}]},
                              PROVIDER, "error", "spec.validate[0]: "),
}  # fmt: skip


@pytest.mark.parametrize(("endpoint", "provider", "level", "said"), CASES.values(), ids=CASES.keys())
def test_is_told(endpoint: dict[str, Any], provider: dict[str, Any] | None, level: str, said: str) -> None:
    found = parse_manifests([Source("all.yaml", written(endpoint, provider), Path())])
    assert found.errors == ()
    (finding,) = (finding for finding in findings(found) if finding.level != "fine")
    assert (finding.level, finding.job) == (level, "InferenceEndpoint default/tts")
    assert said in finding.sentence


def test_two_of_one_name_are_told() -> None:
    twice = written(ENDPOINT, PROVIDER) + "---\n" + written(ENDPOINT, None)
    (error,) = parse_manifests([Source("all.yaml", twice, Path())]).errors
    assert error.sentence == 'endpoint "tts" is written at all.yaml:1 already'
