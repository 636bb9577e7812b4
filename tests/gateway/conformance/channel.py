"""Servers that answer on the connection: OpenAI's protocol and plain HTTP, and Modal's web functions."""

import asyncio
import json
from typing import Any

from aiohttp import web

from tests.gateway.conformance.serving import Api, body_of
from tests.gateway.conformance.world import Job

_WORDS = ("forty", "-", "two")


class OpenAIApi(Api):
    """Like vLLM: chat completions, whole or as events; ends its work when the client hangs up."""

    def routes(self) -> list[web.RouteDef]:
        """See Api."""
        return [
            web.post("/v1/chat/completions", self._chat, name="submit"),
            web.get("/health", self._health, name="health"),
        ]

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await body_of(self.world, request)
        if not body.get("messages"):
            return web.json_response({"error": {"message": "messages is empty", "type": "invalid_request"}}, status=400)
        job = await done(self, body)
        if job.fails:
            return web.json_response({"error": {"message": "the engine died, said secret-key"}}, status=500)
        if body.get("stream"):
            return await self._events(request)
        return web.json_response({"choices": [{"message": {"content": "".join(_WORDS)}}], "echo": job.given})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        fault = self.world.fault("chunks")
        for number, word in enumerate(_WORDS):
            await response.write(b"data: " + json.dumps({"word": word}).encode() + b"\n\n")
            if number == 0 and fault is not None:
                await fault(request)
            await asyncio.sleep(0.01 * self.world.scale)
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response()


class ModalApi(Api):
    """A web function with proxy auth: every ``hop_seconds`` it answers by 303 to where the result can be waited for."""

    hop_seconds = 10.0

    def routes(self) -> list[web.RouteDef]:
        """See Api."""
        return [web.post("/", self._call, name="submit"), web.get("/", self._wait, name="wait")]

    def trusts(self, request: web.Request) -> bool:
        """See Api."""
        return request.headers.get("Modal-Key") == "wk-id" and request.headers.get("Modal-Secret") == "ws-secret-key"

    async def _call(self, request: web.Request) -> web.Response:
        return await self._held(self.world.begin(await body_of(self.world, request)))

    async def _wait(self, request: web.Request) -> web.Response:
        return await self._held(self.world.jobs[request.query["__modal_function_call_id"]])

    async def _held(self, job: Job) -> web.Response:
        try:
            async with asyncio.timeout(self.hop_seconds * self.world.scale):
                await job.until("done")
        except TimeoutError:
            where = f"{self.url}/?__modal_function_call_id={job.id}"
            return web.Response(status=303, headers={"Location": where})
        if job.fails:
            return web.Response(status=500, text="Traceback, said ws-secret-key")
        return web.json_response(job.output)


async def done(api: Api, given: Any) -> Job:
    """A job that runs until its end, or until the client hangs up."""
    job = api.world.begin(given)
    try:
        await job.until("done")
    except asyncio.CancelledError:
        api.world.hung_up += 1
        job.cancel()
        raise
    return job
