"""What is asked by those who run the gateway, on a port of its own that clients need not reach."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from aiohttp import web
from prometheus_client.registry import Collector

from hedgerow_operator.gateway.gateway import Gateway
from hedgerow_operator.gateway.metrics import exposition
from hedgerow_operator.gateway.reply import Reply, json_reply

Page = Callable[[Any], Awaitable[web.StreamResponse]]


class Ops:
    """pages: more of them, by their path. collectors: what /metrics says beside the counts of endpoints."""

    def __init__(self, gateway: Gateway, pages: Mapping[str, Page], collectors: Sequence[Collector] = ()) -> None:
        self._gateway, self._pages, self._collectors = gateway, pages, collectors

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request."""
        if request.method not in ("GET", "HEAD"):
            return json_reply(405, {"error": "only GET is answered here"}).response()
        path = request.raw_path.partition("?")[0]
        if path == "/metrics":
            kind, text = exposition(self._gateway, self._collectors)
            return Reply(status=200, headers={"Content-Type": kind}, body=text).response()
        page = self._pages.get(path)
        if page is not None:
            return await page(request)
        return (probe(self._gateway, path) or json_reply(404, {"error": self._what_there_is()})).response()

    def _what_there_is(self) -> str:
        return "there is " + ", ".join(["/healthz", "/readyz", "/metrics", *sorted(self._pages)])


def probe(gateway: Gateway, path: str) -> Reply | None:
    """The answer of /healthz and /readyz; None: it is another path."""
    if path == "/healthz":
        return json_reply(200, {"status": "ok"})
    if path == "/readyz":
        ready = gateway.ready and not gateway.draining
        return json_reply(200 if ready else 503, {"status": "ok" if ready else "takes no requests"})
    return None
