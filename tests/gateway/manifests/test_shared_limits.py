"""Two endpoints over one ServerlessProvider: together they keep its limits."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow_operator.api.inference_endpoint import InferenceEndpoint, inference_endpoint
from hedgerow_operator.api.serverless_provider import ServerlessProvider, serverless_provider
from hedgerow_operator.gateway.service import Options, Service
from tests.gateway.conformance.runpod import RunPodApi
from tests.gateway.conformance.serving import serving
from tests.gateway.conformance.world import World
from tests.gateway.data_path.gateways import LOOPBACK, free_socket, post

MOST = 3


class Keys:
    """Each Secret is another account."""

    async def read(self, namespace: str, name: str) -> Mapping[str, bytes]:
        return {"apiKey": b"secret-key", "account": name.encode()}


def endpoint(name: str, provider: str) -> InferenceEndpoint:
    uses = [{"name": f"{name}-calls-it-so", "providerRef": {"name": provider}}]
    return inference_endpoint({"metadata": {"name": name}, "spec": {"protocol": "Job", "providers": uses}})


def provider(name: str, url: str, secret: str) -> ServerlessProvider:
    spec: dict[str, Any] = {"type": "RunPod", "endpoint": "ep", "credentialsSecretRef": {"name": secret}}
    spec |= {"runpod": {"apiURL": f"{url}/v2"}, "limits": {"perTenSeconds": MOST}}
    return serverless_provider({"metadata": {"name": name}, "spec": spec})


@pytest.mark.parametrize(
    ("providers", "expected"),
    [((("p", "one"),), MOST), ((("p", "one"), ("q", "one")), MOST), ((("p", "one"), ("q", "two")), 2 * MOST)],
    ids=["one provider", "two manifests of one account", "two accounts"],
)
async def test_two_endpoints_send_no_more_than_the_account_may(
    providers: tuple[tuple[str, str], ...], expected: int
) -> None:
    world = World(1.0)
    world.queue = world.run = 0.0
    async with serving(RunPodApi(world)) as url:
        service, listener = Service(Options(journal=None, secrets=Keys(), allowed_networks=LOOPBACK)), free_socket()
        service.open()
        await service.start([listener])
        try:
            endpoints = [endpoint("a", providers[0][0]), endpoint("b", providers[-1][0])]
            await service.apply(endpoints, [provider(name, url, secret) for name, secret in providers])
            root = f"http://127.0.0.1:{listener.getsockname()[1]}/default"
            asked = {"input": {}, "policy": {"ttl": 2000}}
            got = await asyncio.gather(*(post(f"{root}/{name}/runsync", asked) for name in "ab" * (MOST + 1)))
        finally:
            await service.stop(5.0)
    assert world.count("submit") == expected
    assert sum(one.json()["status"] == "COMPLETED" for one in got) == expected
