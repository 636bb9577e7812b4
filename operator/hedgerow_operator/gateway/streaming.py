"""A streamed answer: an honest status while nothing was sent, keep-alives while it is cold, a proper error after."""

import asyncio
import contextlib

from aiohttp import web

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.gateway.asked import LostError
from hedgerow_operator.gateway.commitment import is_events
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.idempotency import MOST_KEPT_STREAM
from hedgerow_operator.gateway.passing_on import headers_of, whole_events
from hedgerow_operator.gateway.race import LEFT, Race, Won
from hedgerow_operator.gateway.reply import SERVER, RefusedError, Reply, as_refused, error_body
from hedgerow_operator.gateway.settings import Speaks
from hedgerow_operator.gateway.shaping import body_of

# Proxies and clients give a silent connection up after 30 to 60 s.
KEEP_ALIVE_SECONDS = 10.0
_WAITING = b": waiting\n\n"
_EVENTS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class BrokenOffError(Exception):
    """What was sent is all there will be, and the client has to see that it is not complete."""


class Streaming:
    """One request that is answered as it comes. keep_alive: seconds between comments while there is nothing else."""

    def __init__(self, endpoint: Endpoint, request: web.BaseRequest, keep_alive: float | None = None) -> None:
        self._endpoint, self._request = endpoint, request
        self._keep_alive = KEEP_ALIVE_SECONDS if keep_alive is None else keep_alive
        self._speaks = endpoint.settings.speaks
        # Whoever expects other bytes than events cannot be sent comments.
        events = self._speaks is Speaks.OPENAI or "text/event-stream" in request.headers.get("Accept", "")
        self._patience = self._keep_alive if events else None
        self._sent: bytearray | None = None
        self._response: web.StreamResponse | None = None
        self.kept: Reply | None = None

    async def answer(self, race: Race, *, keep: bool) -> web.StreamResponse:
        """To its end. keep: what was sent is in ``kept`` if it was complete and not too long. Raises LostError as long
        as the client has been sent nothing.
        """
        self._sent = bytearray() if keep else None
        try:
            won = await self._won(race)
        except LostError as lost:
            if self._response is None:
                raise
            return await self._error(self._response, as_refused(lost))
        if won.answer.chunks is None or won.answer.status >= 400:
            return await self._whole(won)
        try:
            response = self._response or await self._begin(won)
            return await self._relay(response, won)
        except BaseException:
            won.run.abandon(LEFT, asyncio.get_running_loop().time())
            raise

    async def _won(self, race: Race) -> Won:
        """Wait for it, and tell the client that we do."""
        running = asyncio.ensure_future(race.run())
        try:
            while True:
                done, _ = await asyncio.wait({running}, timeout=self._patience)
                if done:
                    return running.result()
                if self._response is None:
                    self._response = web.StreamResponse(headers={**_EVENTS, **SERVER})
                    await self._response.prepare(self._request)
                await self._response.write(_WAITING)
        except BaseException:
            if not running.done():
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError, LostError):
                    await running
            raise

    async def _begin(self, won: Won) -> web.StreamResponse:
        response = web.StreamResponse(status=won.answer.status, headers={**headers_of(won), **SERVER})
        await response.prepare(self._request)
        return response

    async def _relay(self, response: web.StreamResponse, won: Won) -> web.StreamResponse:
        assert won.answer.chunks is not None
        chunks, now = won.answer.chunks, asyncio.get_running_loop().time
        if is_events(won.answer):
            use = self._endpoint.uses[won.provider]
            chunks = whole_events(chunks, use, self._speaks is Speaks.OPENAI)
        try:
            async for chunk in chunks:
                await response.write(chunk)
                self._remember(chunk)
        except ProviderError as error:
            won.run.abandon("its stream broke off", now())
            if not is_events(won.answer):
                raise BrokenOffError(str(error)) from None
            return await self._error(response, RefusedError(502, str(error)))
        won.run.finish(now())
        await response.write_eof()
        self._keep(won)
        return response

    async def _whole(self, won: Won) -> web.StreamResponse:
        """A provider that does not stream, or the client's own mistake."""
        won.run.finish(asyncio.get_running_loop().time())
        body, answer = body_of(won.answer), won.answer
        if self._response is None:
            reply = Reply(status=answer.status, headers=headers_of(won), body=body)
            self.kept = reply if answer.status < 500 else None
            return reply.response()
        if answer.status >= 400:
            return await self._error(self._response, RefusedError(answer.status, body[:500].decode(errors="replace")))
        await self._response.write(b"data: " + b"\ndata: ".join(body.splitlines()) + b"\n\n")
        await self._response.write_eof()
        return self._response

    async def _error(self, response: web.StreamResponse, error: RefusedError) -> web.StreamResponse:
        """As an event: OpenAI's clients raise it, and others see its name."""
        name = b"" if self._speaks is Speaks.OPENAI else b"event: error\n"
        await response.write(name + b"data: " + error_body(error, self._speaks) + b"\n\n")
        await response.write_eof()
        return response

    def _remember(self, chunk: bytes) -> None:
        if self._sent is not None:
            self._sent += chunk
            if len(self._sent) > MOST_KEPT_STREAM:
                self._sent = None

    def _keep(self, won: Won) -> None:
        if self._sent is not None:
            self.kept = Reply(status=won.answer.status, headers=headers_of(won), body=bytes(self._sent))
