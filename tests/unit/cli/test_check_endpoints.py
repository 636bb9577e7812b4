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
    "a schema that refers to elsewhere": (
        {**ENDPOINT, "validate": [{"type": "JSONSchema", "schema": {"$ref": "https://e.example/s"}}]},
        PROVIDER, "error", "which is not in it, and nothing is fetched"),
}  # fmt: skip


@pytest.mark.parametrize(("endpoint", "provider", "level", "said"), CASES.values(), ids=CASES.keys())
def test_is_told(endpoint: dict[str, Any], provider: dict[str, Any] | None, level: str, said: str) -> None:
    found = parse_manifests([Source("all.yaml", written(endpoint, provider), Path())])
    assert found.errors == ()
    (finding,) = (finding for finding in findings(found) if finding.level != "fine")
    assert (finding.level, finding.job) == (level, "InferenceEndpoint default/tts")
    assert said in finding.sentence


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("http://169.254.169.254/latest", "spec.endpoint: 169.254.169.254 is link-local, as metadata services are"),
        ("http://2852039166", "spec.endpoint: 169.254.169.254 is link-local"),
        ("http://metadata.google.internal:80", "spec.endpoint: 169.254.169.254 is link-local"),
        ("http://[fe80::1]:8000", "spec.endpoint: fe80::1 is link-local"),
        ("http://[fd00:ec2::254]", "is a metadata service, which may not be called; allow its network"),
    ],
)
def test_an_address_that_gateways_refuse_is_told(endpoint: str, said: str) -> None:
    text = written(ENDPOINT, {"type": "HTTP", "endpoint": endpoint})
    (finding,) = (
        finding for finding in findings(parse_manifests([Source("all.yaml", text, Path())])) if finding.level != "fine"
    )
    assert (finding.level, finding.job) == ("warning", "ServerlessProvider default/p")
    assert said in finding.sentence
    assert "gateway.allowedNetworks" in finding.sentence


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:8000", "http://localhost:1", "http://10.0.0.1", "https://a.bc"])
def test_addresses_that_some_gateway_asks_are_nothing_to_talk_of(endpoint: str) -> None:
    text = written(ENDPOINT, {"type": "HTTP", "endpoint": endpoint})
    assert {finding.level for finding in findings(parse_manifests([Source("a.yaml", text, Path())]))} == {"fine"}


def test_two_of_one_name_are_told() -> None:
    twice = written(ENDPOINT, PROVIDER) + "---\n" + written(ENDPOINT, None)
    (error,) = parse_manifests([Source("all.yaml", twice, Path())]).errors
    assert error.sentence == 'endpoint "tts" is written at all.yaml:1 already'
