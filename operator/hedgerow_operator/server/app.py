"""The aiohttp application: reports in, answers out; health and metrics beside it."""

import asyncio
from typing import Protocol

import msgspec
from aiohttp import web

from hedgerow.wire import REPORTS_PATH, Answer, Report
from hedgerow_operator.reconcile.ports import Leadership, Unreachable
from hedgerow_operator.server.auth import Authenticator, Denied
from hedgerow_operator.server.connections import CLIENTS_FAULTS, Runner
from hedgerow_operator.server.decoding import Malformed, decode_report
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.metrics import CONTENT_TYPE, Metrics

MAX_REPORT_BYTES = 1024 * 1024
# A report is a few kilobytes: who needs longer for one is stuck or hostile.
READ_SECONDS = 10.0
_BEARER = "Bearer "


class Hub(Protocol):
    """Where believed reports go and answers come from (reconcile.reports.ReportHub)."""

    def uid_known(self, uid: str) -> bool:
        """Whether a job of this uid exists."""

    def receive(self, report: Report) -> None:
        """Take a believed report."""

    async def answer(self, report: Report) -> Answer:
        """The answer; held until there is a command or the next report is due."""


class Refusal(Exception):
    """An HTTP error with one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def make_app(
    hub: Hub, authenticator: Authenticator, leadership: Leadership, metrics: Metrics, health: Health
) -> web.Application:
    """The server's application. Start it by :func:`make_runner`, so that a client that leaves frees its handler."""
    reports = _Reports(hub, authenticator, leadership, metrics)

    async def healthz(_: web.Request) -> web.Response:
        return _probe(health.trouble())

    async def readyz(_: web.Request) -> web.Response:
        return _probe(health.not_ready())

    async def prometheus(_: web.Request) -> web.Response:
        metrics.leading(leadership.holds())
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    app = web.Application(client_max_size=MAX_REPORT_BYTES)
    app.router.add_post(REPORTS_PATH, reports.handle)
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", prometheus)
    return app


def make_runner(app: web.Application) -> web.AppRunner:
    """Runs ``app``; idle and half-open connections are closed, and held answers end with their client."""
    return Runner(app, access_log=None, handler_cancellation=True, keepalive_timeout=75.0, shutdown_timeout=2.0)


def _probe(trouble: str | None) -> web.Response:
    return web.Response(text="ok\n") if trouble is None else web.Response(status=503, text=trouble + "\n")


class _Reports:
    def __init__(self, hub: Hub, authenticator: Authenticator, leadership: Leadership, metrics: Metrics) -> None:
        self._hub = hub
        self._authenticator = authenticator
        self._leadership = leadership
        self._metrics = metrics

    async def handle(self, request: web.Request) -> web.Response:
        try:
            report = await self._believed(request)
            self._metrics.report_received()
            self._hub.receive(report)
            answer = await self._hub.answer(report)
            # The lease may have gone while the answer was held: what another leader knows better must not be said.
            self._leading()
        except Refusal as refusal:
            self._metrics.report_refused(refusal.status)
            return web.json_response({"error": str(refusal)}, status=refusal.status)
        return web.Response(body=msgspec.json.encode(answer), content_type="application/json")

    def _leading(self) -> None:
        if not self._leadership.holds():
            raise Refusal(503, "this operator is not the leader; try again, another one answers")

    async def _believed(self, request: web.Request) -> Report:
        """The report, once everything about it has been checked; cheap checks first. Raises Refusal."""
        self._leading()
        token = _bearer_token(request)
        if token is None:
            raise Refusal(401, 'the request carries no token; send the header "Authorization: Bearer TOKEN"')
        if not token.isascii():
            raise Refusal(401, "the token is not one that was given out: those are ASCII text")
        body = await _read(request)
        try:
            report = decode_report(body)
        except Malformed as error:
            raise Refusal(400, str(error)) from None
        if not self._hub.uid_known(report.job.uid):
            raise Refusal(404, f"there is no job with uid {report.job.uid[:64]!r}; it was deleted or is not known yet")
        await self._authenticate(token, report)
        return report

    async def _authenticate(self, token: str, report: Report) -> None:
        try:
            await self._authenticator.check(token, report)
        except Denied as denied:
            raise Refusal(403 if denied.identified else 401, str(denied)) from None
        except Unreachable as error:
            raise Refusal(503, f"the token could not be checked: {error}") from None


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
