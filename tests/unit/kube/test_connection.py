"""Which cluster and namespace a context of the kubeconfig means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hedgerow_operator.adapters.kube.connection import NotConfigured, context_namespace, load_configuration

CONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "one",
    "contexts": [
        {"name": "one", "context": {"cluster": "a", "user": "u"}},
        {"name": "two", "context": {"cluster": "b", "user": "u", "namespace": "team-a"}},
    ],
    "clusters": [
        {"name": "a", "cluster": {"server": "https://a:6443"}},
        {"name": "b", "cluster": {"server": "https://b:6443"}},
    ],
    "users": [{"name": "u", "user": {"token": "t"}}],
}


@pytest.fixture(autouse=True)
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KUBECONFIG names this file."""
    path = tmp_path / "config"
    path.write_text(json.dumps(CONFIG))
    monkeypatch.setenv("KUBECONFIG", str(path))


@pytest.mark.parametrize(
    ("context", "host", "namespace"), [("", "https://a:6443", "default"), ("two", "https://b:6443", "team-a")]
)
async def test_a_context(context: str, host: str, namespace: str) -> None:
    configuration = await load_configuration(context)
    assert (configuration.host, context_namespace(context)) == (host, namespace)


async def test_a_context_that_is_not_there_gets_a_sentence() -> None:
    with pytest.raises(NotConfigured, match="three"):
        await load_configuration("three")
