"""Connections that tell nobody what was in a request: no header is logged or sent back, whatever was wrong."""

import logging
from http import HTTPStatus
from typing import Any

from aiohttp import ClientPayloadError, web
from aiohttp.http_exceptions import HttpProcessingError

from hedgerow_operator.server.door import Door, Doors
from hedgerow_operator.server.faults import where
from hedgerow_operator.server.intake import Intake

# What aiohttp raises where the client sent something else than it said.
CLIENTS_FAULTS = (web.RequestPayloadError, ClientPayloadError, HttpProcessingError)
# Of an application: what takes its reports.
INTAKE = web.AppKey("intake", Intake)
_log = logging.getLogger(__name__)
_SENTENCES = {
    400: "the request is not valid HTTP/1.1; send a POST with a JSON body",
    500: "the operator could not handle the request; its log says where",
}


class Runner(web.AppRunner):
    """As AppRunner; connections begin as a :class:`Door` and go on, where needed, as a :class:`Connection`."""

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        return _Server(
            self.app[INTAKE],
            server.request_handler,
            request_factory=server.request_factory,
            handler_cancellation=server.handler_cancellation,
            **server._kwargs,
        )


class _Server(web.Server):
    def __init__(self, intake: Intake, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.doors = Doors(intake, lambda: Connection(self, loop=self._loop, **self._kwargs))

    def __call__(self) -> Door:  # type: ignore[override]
        return Door(self.doors)

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self.doors.close()
        await super().shutdown(timeout)


class Connection(web.RequestHandler):
    """aiohttp's own answer to a malformed request quotes the line that is wrong, which may hold a token; so its log."""

    def connection_lost(self, exc: BaseException | None) -> None:
        """Its place among those that have proven nothing is free."""
        if isinstance(self._manager, _Server):
            self._manager.doors.left(self.transport)
        super().connection_lost(exc)

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """One line that says where; the text of the error may quote the request."""
        error = kw.get("exc_info")
        if isinstance(error, BaseException) and not isinstance(error, CLIENTS_FAULTS):
            _log.error("a request could not be handled: %s", where(error))

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """One sentence of ours for whatever went wrong; the client's own mistakes are not logged."""
        if status >= 500:
            self.log_exception(exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("a part of the answer has been sent already")
        response = web.json_response({"error": _SENTENCES.get(status, HTTPStatus(status).phrase)}, status=status)
        response.force_close()
        return response
