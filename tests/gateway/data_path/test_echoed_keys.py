"""A provider that shows its callers what it was sent: no client of ours reads our key, and its log neither."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Mapping

import pytest
from aiohttp import web

from hedgerow_operator.api.inference_endpoint import inference_endpoint
from hedgerow_operator.api.serverless_provider import serverless_provider
from hedgerow_operator.gateway.service import Options, Service
from tests.gateway.data_path.gateways import LOOPBACK, free_socket, post

KEY = "sk-0123456789-ours"
STARS = "*" * len(KEY)


class Keys:
    """One Secret."""

    async def read(self, namespace: str, name: str) -> Mapping[str, bytes]:
        return {"apiKey": KEY.encode() + b"\n"}


async def echo(request: web.BaseRequest) -> web.StreamResponse:
    """The Authorization that it was sent: as ?how= says."""
    seen, how = request.headers["Authorization"], request.query.get("how", "")
    if how == "header":
        return web.json_response({"ok": True}, headers={"X-Seen": seen})
    if how == "refusal":
        return web.json_response({"error": {"message": f"no rights for {seen}"}}, status=400)
    if how == "job":
        return web.json_response({"output": {"seen": seen}})
    if how in ("stream", "events"):
        kind = "text/event-stream" if how == "events" else "application/octet-stream"
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        whole = b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\ndata: [DONE]\n\n' % seen.encode()
        for at in range(0, len(whole), 7):
            await response.write(whole[at : at + 7])
            await asyncio.sleep(0.001)
        await response.write_eof()
        return response
    return web.Response(text=f"you sent {seen}")


@contextlib.asynccontextmanager
async def served(protocol: str) -> AsyncIterator[str]:
    """The endpoint's address, as its manifests make it."""
    there, here = free_socket(), free_socket()
    runner = web.ServerRunner(web.Server(echo), shutdown_timeout=0.1)
    await runner.setup()
    await web.SockSite(runner, there).start()
    service = Service(Options(journal=None, secrets=Keys(), allowed_networks=LOOPBACK))
    service.open()
    await service.start([here])
    use: dict[str, object] = {"name": "echo", "providerRef": {"name": "echo"}}
    spec: dict[str, object] = {"type": "HTTP", "endpoint": f"http://127.0.0.1:{there.getsockname()[1]}",
                               "credentialsSecretRef": {"name": "key"}}  # fmt: skip
    if protocol == "Job":
        spec["http"] = {"submit": {"path": "/?how=job"}}
    metadata = {"name": "e", "namespace": "team"}
    endpoint = inference_endpoint({"metadata": metadata, "spec": {"protocol": protocol, "providers": [use]}})
    provider = serverless_provider({"metadata": {"name": "echo", "namespace": "team"}, "spec": spec})
    try:
        await service.apply([endpoint], [provider])
        yield f"http://127.0.0.1:{here.getsockname()[1]}/team/e"
    finally:
        await service.stop(0.0)
        await runner.cleanup()


@pytest.mark.parametrize("how", ["body", "header", "refusal", "stream", "events"])
@pytest.mark.parametrize("protocol", ["HTTP", "OpenAI"])
async def test_a_key_that_is_echoed_does_not_reach_the_client_in_its(
    protocol: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with served(protocol) as url:
        got = await post(f"{url}/v1/x?how={how}", {"stream": how in ("stream", "events")})
    told = got.text + json.dumps(dict(got.headers))
    assert STARS in told
    assert KEY not in told
    assert KEY not in caplog.text


async def test_a_key_that_is_echoed_is_not_in_a_jobs_output() -> None:
    async with served("Job") as url:
        got = await post(f"{url}/runsync", {"input": {}})
    assert got.json()["status"] == "COMPLETED"
    assert STARS in got.text
    assert KEY not in got.text
