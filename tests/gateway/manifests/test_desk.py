"""From manifests to what is served: what is left out and why, and what a change does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.api.inference_endpoint import InferenceEndpoint, inference_endpoint
from hedgerow_operator.api.serverless_provider import ServerlessProvider, serverless_provider
from hedgerow_operator.gateway.secret_files import LocalSecrets, SecretMissingError
from hedgerow_operator.gateway.service import Options, Service

PLACE = ("default", "tts")
KEY = "sk-do-not-show-me"


class Kept:
    """Secrets in memory."""

    def __init__(self) -> None:
        self.secrets: dict[str, dict[str, bytes]] = {}

    async def read(self, namespace: str, name: str) -> Mapping[str, bytes]:
        if name not in self.secrets:
            raise SecretMissingError(f"there is no Secret {name}")
        return self.secrets[name]


def endpoint(*providers: str, **spec: Any) -> InferenceEndpoint:
    uses = [{"name": name, "providerRef": {"name": f"p-{name}"}} for name in providers or ("a", "b")]
    return inference_endpoint({"metadata": {"name": "tts"}, "spec": {"protocol": "Job", "providers": uses, **spec}})


def provider(name: str, **spec: Any) -> ServerlessProvider:
    return serverless_provider({"metadata": {"name": f"p-{name}"}, "spec": {"type": "Simulated", **spec}})


RUNPOD = {"type": "RunPod", "endpoint": "e", "credentialsSecretRef": {"name": "runpod"}}


@pytest.fixture
async def served() -> AsyncIterator[tuple[Service, Kept]]:
    kept = Kept()
    service = Service(Options(journal=None, secrets=kept))
    service.open()
    yield service, kept
    await service.stop(0.0)


async def test_what_is_written_is_served_in_its_order(served: tuple[Service, Kept]) -> None:
    service, _ = served
    await service.apply([endpoint("b", "a")], [provider("a"), provider("b")])
    found = service.gateway.find(*PLACE)
    assert found is not None
    assert [use.name for use in found.endpoint.settings.providers] == ["b", "a"]
    assert service.desk.standings[PLACE].served


async def test_a_provider_that_cannot_be_made_is_left_out_with_why(served: tuple[Service, Kept]) -> None:
    service, _ = served
    await service.apply([endpoint("a", "b", "c")], [provider("a", **RUNPOD), provider("b")])
    standing = service.desk.standings[PLACE]
    assert standing.served
    assert standing.left_out == {
        "a": "there is no Secret runpod",
        "c": "there is no ServerlessProvider p-c in namespace default",
    }


REFUSED: dict[str, tuple[InferenceEndpoint, str, str]] = {
    "no provider can be made": (endpoint("c"), "ProviderNotFound", "there is no ServerlessProvider p-c"),
    "its keys are missing": (endpoint("a", auth={"apiKeySecretRef": {"name": "keys"}}), "SecretMissing", "Secret keys"),
    "a budget without prices": (endpoint("a", budget={"hourlyUSD": "1"}), "InvalidSpec", "write price.perSecondUSD"),
    "a policy that nobody has": (endpoint("a", hedge={"policy": "Plugin", "plugin": "mine"}), "InvalidSpec",
                                 "no policy is called 'mine' here (installed: none)"),
    "a schema that is elsewhere": (
        endpoint("a", validate=[{"type": "JSONSchema", "schema": {"$ref": "https://e.example/s"}}]),
        "InvalidSpec", "schema refers to 'https://e.example/s', which is not in it"),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "reason", "said"), REFUSED.values(), ids=REFUSED.keys())
async def test_it_is_not_served_when(
    served: tuple[Service, Kept], wanted: InferenceEndpoint, reason: str, said: str
) -> None:
    service, _ = served
    await service.apply([wanted], [provider("a")])
    standing = service.desk.standings[PLACE]
    assert (standing.served, standing.reason) == (False, reason)
    assert said in standing.sentence
    assert service.gateway.find(*PLACE) is None
    assert not service.shown()[PLACE].served


LEFT_OUT: dict[str, tuple[dict[str, Any], str]] = {
    "an address of a metadata service": (
        {"type": "HTTP", "endpoint": "http://169.254.169.254"},
        "spec.endpoint: 169.254.169.254 is link-local, as metadata services are, which may not be called; allow its "
        "network if it is meant (--allow-network)",
    ),
    "management on this machine": (
        {**RUNPOD, "runpod": {"managementURL": "http://localhost:1"}},
        "spec.runpod.managementURL: 127.0.0.1 is this machine",
    ),
    "a key of two lines for a header": (
        {"type": "HTTP", "endpoint": "https://h", "credentialsSecretRef": {"name": "runpod"},
         "http": {"headers": {"X-Key": "${lines}"}}},
        "http.headers.X-Key: the Secret's lines has a line break within; write it as one line",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "said"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
async def test_a_provider_is_left_out_with(served: tuple[Service, Kept], spec: dict[str, Any], said: str) -> None:
    service, kept = served
    kept.secrets = {"runpod": {"apiKey": KEY.encode(), "lines": f"{KEY}\r\nX: y".encode()}}
    await service.apply([endpoint("a", "b")], [provider("a", **spec), provider("b")])
    (told,) = service.desk.standings[PLACE].left_out.values()
    assert told.startswith(f"ServerlessProvider p-a: {said}")
    assert KEY not in told


async def test_an_address_whose_network_is_allowed_is_served() -> None:
    service = Service(Options(journal=None, secrets=Kept(), allowed_networks=("169.254.0.0/16",)))
    service.open()
    await service.apply([endpoint("a")], [provider("a", type="HTTP", endpoint="http://169.254.169.254")])
    assert service.desk.standings[PLACE].left_out == {}
    await service.stop(0.0)


async def test_one_that_is_edited_wrongly_goes_on_as_it_was(served: tuple[Service, Kept]) -> None:
    service, _ = served
    await service.apply([endpoint("a")], [provider("a")])
    await service.apply([endpoint("a", auth={"apiKeySecretRef": {"name": "keys"}})], [provider("a")])
    assert service.gateway.find(*PLACE) is not None
    assert not service.desk.standings[PLACE].served


async def test_one_that_is_deleted_is_withdrawn(served: tuple[Service, Kept]) -> None:
    service, _ = served
    await service.apply([endpoint("a")], [provider("a")])
    await service.apply([], [provider("a")])
    assert service.gateway.find(*PLACE) is None
    assert service.shown() == {}


async def test_another_key_makes_another_client_and_the_same_ones_change_nothing(served: tuple[Service, Kept]) -> None:
    service, kept = served
    kept.secrets = {"runpod": {"apiKey": KEY.encode()}}
    seen = []
    for value in (KEY, KEY, "sk-another"):
        kept.secrets["runpod"]["apiKey"] = value.encode()
        await service.apply([endpoint("a")], [provider("a", **RUNPOD)])
        seen.append(service.desk.provider("default", "p-a"))
    assert seen[0] is seen[1]
    assert seen[1] is not seen[2]


async def test_no_object_of_the_gateway_shows_a_key(served: tuple[Service, Kept]) -> None:
    service, kept = served
    kept.secrets = {"runpod": {"apiKey": KEY.encode()}, "keys": {"alice": KEY.encode()}}
    await service.apply([endpoint("a", auth={"apiKeySecretRef": {"name": "keys"}})], [provider("a", **RUNPOD)])
    found = service.gateway.find(*PLACE)
    assert found is not None
    assert found.endpoint.settings.keys is not None
    assert found.endpoint.settings.keys.client(KEY.encode()) == "alice"
    assert KEY not in repr(found.endpoint.settings) + repr(service.desk.standings) + repr(service.shown())


async def test_local_secrets_are_files_or_variables(tmp_path: Path) -> None:
    (tmp_path / "runpod").mkdir()
    (tmp_path / "runpod" / "apiKey").write_text("from a file\n")
    variables = {"HEDGEROW_SECRET_RUNPOD_API_KEY": "unused", "HEDGEROW_SECRET_MY_MODAL_TOKENID": "from a variable"}
    secrets = LocalSecrets(tmp_path, variables)
    assert await secrets.read("default", "runpod") == {"apiKey": b"from a file\n"}
    assert await secrets.read("default", "my-modal") == {"tokenId": b"from a variable"}
    with pytest.raises(SecretMissingError, match="HEDGEROW_SECRET_VAST_KEY"):
        await secrets.read("default", "vast")
