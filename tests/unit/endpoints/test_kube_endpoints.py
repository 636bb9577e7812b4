"""Endpoints and providers in the API server, and whole Secrets by their name."""

from __future__ import annotations

import base64
from typing import Any, cast

import pytest
from msgspec import structs

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.endpoints import KubeEndpoints, KubeSecretEntries
from hedgerow_operator.adapters.kube.gateway_books import GatewayPods
from hedgerow_operator.reconcile.ports import Conflict, Refused, Unreachable
from tests.unit.kube.store import Store

OURS = "/apis/hedgerow.dev/v1alpha1/namespaces/ml"
ENDPOINT = f"{OURS}/inferenceendpoints/tts"
PROVIDER = f"{OURS}/serverlessproviders/p"
SPEC: dict[str, Any] = {"protocol": "Job", "providers": [{"name": "a", "providerRef": {"name": "p"}}]}


@pytest.fixture
def store() -> Store:
    store = Store()
    store.put(ENDPOINT, {"metadata": {"name": "tts", "namespace": "ml"}, "spec": SPEC})
    store.put(PROVIDER, {"metadata": {"name": "p", "namespace": "ml"}, "spec": {"type": "Simulated"}})
    return store


@pytest.fixture
def objects(store: Store) -> KubeEndpoints:
    return KubeEndpoints(cast("Api", store), ("ml",))


async def test_those_of_the_watched_namespaces_are_found(objects: KubeEndpoints) -> None:
    assert [one.metadata.name for one in await objects.endpoints()] == ["tts"]
    assert [one.metadata.name for one in await objects.providers()] == ["p"]


async def test_one_that_is_going_or_cannot_be_read_is_not_there(store: Store, objects: KubeEndpoints) -> None:
    store.objects[ENDPOINT]["spec"] = {"protocol": "Gopher"}
    store.objects[PROVIDER]["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    assert (await objects.endpoints(), await objects.providers()) == ((), ())


async def test_a_status_is_written_as_the_object_was_read(store: Store, objects: KubeEndpoints) -> None:
    (endpoint,) = await objects.endpoints()
    (provider,) = await objects.providers()
    store.objects[f"{ENDPOINT}/status"], store.objects[f"{PROVIDER}/status"] = (
        store.objects[ENDPOINT],
        store.objects[PROVIDER],
    )
    await objects.write_endpoint(endpoint, structs.replace(endpoint.status, state="Ready"))
    await objects.write_provider(provider, structs.replace(provider.status, state="Ready"))
    with pytest.raises(Conflict):
        await objects.write_endpoint(endpoint, endpoint.status)
    with pytest.raises(Conflict):
        await objects.write_provider(provider, provider.status)


async def test_a_right_that_is_missing_teaches_nothing(store: Store, objects: KubeEndpoints) -> None:
    store.failing = Rejected(403, "Forbidden", "inferenceendpoints is forbidden")
    with pytest.raises(Unreachable, match="forbidden"):
        await objects.endpoints()


async def test_a_secret_is_read_whole_and_by_its_name(store: Store) -> None:
    secrets = KubeSecretEntries(cast("Api", store))
    path = "/api/v1/namespaces/ml/secrets/keys"
    store.put(path, {"metadata": {"name": "keys"}, "data": {"alice": base64.b64encode(b"k").decode()}})
    assert await secrets.read("ml", "keys") == {"alice": b"k"}
    with pytest.raises(Refused, match="there is no Secret ml/other; create it"):
        await secrets.read("ml", "other")
    store.objects[path]["data"]["alice"] = "%%%"
    with pytest.raises(Refused, match="what is not base64"):
        await secrets.read("ml", "keys")


async def test_a_gateway_is_gone_when_its_pod_is_not_found_and_nothing_else_says_so(store: Store) -> None:
    store.put("/api/v1/namespaces/home/pods/gateway-0", {"metadata": {"name": "gateway-0"}})
    pods = GatewayPods(cast("Api", store), "home")
    assert not await pods.gone("gateway-0")
    assert await pods.gone("gateway-1")
    store.failing = Rejected(403, "Forbidden", "no right to get pods")
    with pytest.raises(Unreachable, match="home/gateway-1 cannot be read"):
        await pods.gone("gateway-1")
