"""The aiohttp application: reports in, answers out; health and metrics beside it."""

import asyncio

from aiohttp import web

from hedgerow_operator.reconcile.held import future_of
from hedgerow_operator.reconcile.ports import Leadership
from hedgerow_operator.server.auth import Authenticator, LauncherClaim
from hedgerow_operator.server.connections import CLIENTS_FAULTS, INTAKE, Runner
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.intake import MAX_REPORT_BYTES, PATHS, Agents, Hub, Intake
from hedgerow_operator.server.metrics import CONTENT_TYPE, Metrics
from hedgerow_operator.server.refusal import Refusal

# A report is a few kilobytes: who needs longer for one is stuck or hostile.
READ_SECONDS = 10.0
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
    intake = Intake(hub, authenticator, leadership, metrics, agents)

    async def report(request: web.Request) -> web.Response:
        return await _report(request, intake)

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


async def _report(request: web.Request, intake: Intake) -> web.Response:
    token = _bearer_token(request)
    try:
        intake.welcome(token)
        body = await _read(request)
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


async def _read(request: web.Request) -> bytes:
    """The whole body, or a Refusal when it is too big or comes too slowly."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise Refusal(413, f"the report is larger than {MAX_REPORT_BYTES} bytes") from None
    except CLIENTS_FAULTS:
        raise Refusal(400, "the body is cut off or not encoded as Content-Encoding says; send plain JSON") from None
    except TimeoutError:
        raise Refusal(408, f"the report did not arrive within {READ_SECONDS:.0f} s") from None
