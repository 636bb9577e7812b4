"""Questions to the API server change nothing and bring nothing along that is not asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import ApiClient, Configuration

from hedgerow_operator.adapters.kube.inquiry import Inquiry

Seen = list[tuple[str, str, dict[str, str], str, str]]


@pytest.fixture
def seen() -> Seen:
    """Method, path, query, Accept and Content-Type of each request."""
    return []


@pytest.fixture
async def ask(seen: Seen) -> AsyncIterator[Inquiry]:
    async def answer(request: web.Request) -> web.Response:
        headers = request.headers
        seen.append(
            (request.method, request.path, dict(request.query), headers["Accept"], headers.get("Content-Type", ""))
        )
        body: dict[str, Any] = {"metadata": {"name": "a"}, "data": {"k": "v"}, "status": {"allowed": True}}
        return web.json_response(body)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as running:
        client = ApiClient(Configuration(host=str(running.make_url("")).rstrip("/")))
        yield Inquiry(client)
        await client.close()


@pytest.mark.parametrize("method", ["would_apply", "would_create"])
async def test_a_trial_stores_nothing_and_refuses_unknown_fields(method: str, ask: Inquiry, seen: Seen) -> None:
    await getattr(ask, method)("/things/a", {"kind": "Thing"})
    ((_verb, path, query, _accept, _type),) = seen
    assert path == "/things/a"
    assert (query["dryRun"], query["fieldValidation"]) == ("All", "Strict")


async def test_an_apply_is_a_server_side_apply(ask: Inquiry, seen: Seen) -> None:
    await ask.would_apply("/things/a", {"kind": "Thing"})
    ((verb, _path, query, _accept, content_type),) = seen
    assert (verb, content_type, query["force"]) == ("PATCH", "application/apply-patch+yaml", "true")


async def test_of_an_object_only_the_metadata_is_fetched(ask: Inquiry, seen: Seen) -> None:
    assert await ask.metadata("/secrets/a") == {"name": "a"}
    ((_verb, _path, _query, accept, _type),) = seen
    assert "as=PartialObjectMetadata" in accept


async def test_a_right_is_asked_for_by_review(ask: Inquiry, seen: Seen) -> None:
    assert await ask.may("default", "get", "", "pods/log")
    ((verb, path, _query, _accept, _type),) = seen
    assert (verb, path) == ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
