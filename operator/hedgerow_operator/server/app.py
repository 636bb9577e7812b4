"""The aiohttp application: reports in, answers out; health and metrics beside it."""

import asyncio

from aiohttp import web

from hedgerow_operator.reconcile.held import future_of
from hedgerow_operator.reconcile.ports import Leadership
from hedgerow_operator.server.auth import Authenticator, LauncherClaim
from hedgerow_operator.server.connections import CLIENTS_FAULTS, INTAKE, Runner
from hedgerow_operator.server.door import MOST_UNPROVEN_BYTES, READ_SECONDS
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.intake import MAX_REPORT_BYTES, PATHS, Agents, Hub, Intake
from hedgerow_operator.server.metrics import CONTENT_TYPE, Metrics
from hedgerow_operator.server.refusal import Refusal

_BEARER = "Bearer "


def make_app(
    hub: Hub,
    authenticator: Authenticator[LauncherClaim],
    leadership: Leadership,
    metrics: Metrics,
    health: Health,
    agents: Agents | None = None,
) -> web.Application:
    """The server's application. Start it by :func:`make_runner`, which has a quicker way for plain reports too.

    agents: None where no node agent is expected."""
    intake, bodies = Intake(hub, authenticator, leadership, metrics, agents), _Bodies()

    async def report(request: web.Request) -> web.Response:
        return await _report(request, intake, bodies)

    async def healthz(_: web.Request) -> web.Response:
        return _probe(health.trouble())

    async def readyz(_: web.Request) -> web.Response:
        return _probe(health.not_ready())

    async def prometheus(_: web.Request) -> web.Response:
        metrics.leading(leadership.holds())
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    app = web.Application(client_max_size=MAX_REPORT_BYTES)
    app[INTAKE] = intake
    for path in PATHS:
        app.router.add_post(path, report)
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", prometheus)
    return app


def make_runner(app: web.Application) -> web.AppRunner:
    """Runs ``app``; idle and half-open connections are closed, and held answers end with their client."""
    return Runner(app, access_log=None, handler_cancellation=True, keepalive_timeout=75.0, shutdown_timeout=2.0)


def _probe(trouble: str | None) -> web.Response:
    return web.Response(text="ok\n") if trouble is None else web.Response(status=503, text=trouble + "\n")


async def _report(request: web.Request, intake: Intake, bodies: "_Bodies") -> web.Response:
    token = _bearer_token(request)
    try:
        intake.welcome(token)
        body = await bodies.read(request)
    except Refusal as refusal:
        intake.count(refusal)
        return _response(refusal)
    answered, settle = future_of(asyncio.get_running_loop())
    asked = intake.take(request.path, token, body, settle)
    try:
        return _response(await answered)
    finally:
        asked.leave()


def _response(what: bytes | Refusal) -> web.Response:
    if isinstance(what, bytes):
        return web.Response(body=what, content_type="application/json")
    headers = None if what.retry_after is None else {"Retry-After": str(what.retry_after)}
    return web.Response(status=what.status, body=what.body, content_type="application/json", headers=headers)


def _bearer_token(request: web.Request) -> str | None:
    header = request.headers.get("Authorization", "")
    return header[len(_BEARER) :].strip() or None if header.startswith(_BEARER) else None


class _Bodies:
    """Reads bodies that come in more pieces; of all that are on their way only so much is kept."""

    def __init__(self) -> None:
        self._bytes = 0

    async def read(self, request: web.Request) -> bytes:
        """The whole body, or a Refusal when it is too big, comes too slowly, or there is no room for it."""
        body = bytearray()
        try:
            async with asyncio.timeout(READ_SECONDS):
                async for piece in request.content.iter_any():
                    body += piece
                    self._bytes += len(piece)
                    if len(body) > MAX_REPORT_BYTES:
                        raise Refusal(413, f"the report is larger than {MAX_REPORT_BYTES} bytes")
                    if self._bytes > MOST_UNPROVEN_BYTES:
                        raise Refusal(503, "too many reports are on their way at once; try again", retry_after=1)
        except CLIENTS_FAULTS:
            raise Refusal(400, "the body is cut off or not encoded as Content-Encoding says; send plain JSON") from None
        except TimeoutError:
            raise Refusal(408, f"the report did not arrive within {READ_SECONDS:.0f} s") from None
        finally:
            self._bytes -= len(body)
        return bytes(body)
