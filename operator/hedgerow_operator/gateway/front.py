"""Where a request goes: whose endpoint it is, who may ask, whether there is room, and how mistakes are answered."""

import asyncio
import logging
from typing import NoReturn
from urllib.parse import unquote

from aiohttp import web

from hedgerow_operator.gateway.asked import LostError
from hedgerow_operator.gateway.counts import Counts
from hedgerow_operator.gateway.gateway import Gateway, Served
from hedgerow_operator.gateway.incoming import KEY, client_of, read
from hedgerow_operator.gateway.ops import probe
from hedgerow_operator.gateway.peers import FORWARDED
from hedgerow_operator.gateway.proxy import proxy
from hedgerow_operator.gateway.reply import RefusedError, Reply, as_refused, refusal
from hedgerow_operator.gateway.settings import Speaks
from hedgerow_operator.gateway.streaming import BrokenOffError

_log = logging.getLogger(__name__)
_MOST_PATH = 4096


class Front:
    """What aiohttp's server calls for every request."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Never raises but to break a connection off."""
        namespace, name, path = _place(request.raw_path)
        served = self._gateway.find(namespace, name)
        if served is None:
            return (probe(self._gateway, request.raw_path) or self._nowhere(namespace, name)).response()
        counts = served.endpoint.counts
        try:
            response = await self._answer(served, request, path)
        except (RefusedError, LostError) as error:
            if request.writer.output_size:  # a second answer would be read as a part of the first
                self._broken_off(request, counts, 502)
            response = _refused(error, served.endpoint.settings.speaks)
        except BrokenOffError:
            self._broken_off(request, counts, 502)
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, its client is told, and the others go on
            _log.exception("a request to %s/%s broke off", namespace, name)
            if request.writer.output_size:
                self._broken_off(request, counts, 500)
            told = RefusedError(500, "the gateway has made a mistake; its log says which")
            response = refusal(told, served.endpoint.settings.speaks).response()
        counts.answered(response.status)
        if self._gateway.draining:
            response.force_close()
        return response

    async def _answer(self, served: Served, request: web.BaseRequest, path: str) -> web.StreamResponse:
        endpoint = served.endpoint
        settings, counts = endpoint.settings, endpoint.counts
        client = client_of(request, settings.keys)
        if len(request.raw_path) > _MOST_PATH:
            raise RefusedError(414, f"the path and its query may have {_MOST_PATH} characters; send more in the body")
        if _climbs(path):
            raise RefusedError(400, "a path with .. leads out of the endpoint; write it without")
        if self._gateway.draining:
            raise RefusedError(503, "this gateway is about to end; ask again", retry_after=1.0)
        if counts.running >= settings.max_requests:
            told = f"{settings.max_requests} requests are being answered, which is the most that this endpoint takes"
            raise RefusedError(503, told, retry_after=1.0)
        counts.running += 1
        try:
            elsewhere = self._elsewhere(served, request, path)
            if elsewhere is not None:
                return await self._gateway.peers.forward(request, elsewhere)
            if served.jobs is not None:
                return (await served.jobs.answer(request, path, client)).response()
            return await proxy(endpoint, request, await read(request, settings, client, path))
        finally:
            counts.running -= 1

    def _broken_off(self, request: web.BaseRequest, counts: Counts, status: int) -> NoReturn:
        """A client that has been sent a part has to see that no more comes."""
        counts.answered(status)
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionResetError from None

    def _elsewhere(self, served: Served, request: web.BaseRequest, path: str) -> int | None:
        """The replica that has to answer it; None: this one."""
        peers = self._gateway.peers
        if peers.own.count <= 1 or FORWARDED in request.headers:
            return None
        verb, _, job_id = path.partition("?")[0].partition("/")
        number = peers.own.number
        if served.jobs is not None and job_id and verb in ("status", "stream", "cancel", "retry"):
            number = peers.of_job(job_id)
        elif key := request.headers.get(KEY):
            number = peers.of_key(key)
        return None if number == peers.own.number else number

    def _nowhere(self, namespace: str, name: str) -> Reply:
        told = f"no endpoint {name[:63]!r} is served in the namespace {namespace[:63]!r}; ask /NAMESPACE/ENDPOINT/…"
        return refusal(RefusedError(404, told), Speaks.OPENAI)


def _refused(error: RefusedError | LostError, speaks: Speaks) -> web.StreamResponse:
    if isinstance(error, LostError):
        return refusal(as_refused(error), speaks, error.attempts).response()
    return refusal(error, speaks).response()


def _climbs(path: str) -> bool:
    """Whether it would leave what a provider was declared to be."""
    route = unquote(path.partition("?")[0])
    return ".." in route and ".." in route.replace("\\", "/").split("/")


def _place(raw_path: str) -> tuple[str, str, str]:
    """The namespace, the endpoint, and what comes below it with its query."""
    route, mark, query = raw_path.partition("?")
    parts = route.split("/", 3)
    rest = parts[3] if len(parts) > 3 else ""
    return (
        parts[1] if len(parts) > 1 else "",
        parts[2] if len(parts) > 2 else "",
        f"{rest}{mark}{query}",
    )
