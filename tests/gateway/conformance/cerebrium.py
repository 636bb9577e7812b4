"""Cerebrium's call and its runs (reference/providers.md 5); a run that is deleted breaks its call off."""

import asyncio
import json
from typing import Any

from aiohttp import web

from tests.gateway.conformance.serving import Api, body_of
from tests.gateway.conformance.world import Job


class CerebriumApi(Api):
    """With Accept: text/event-stream the function is our worker code, which streams that it has started."""

    def routes(self) -> list[web.RouteDef]:
        """See Api."""
        return [
            web.post("/v4/p-1/app/run", self._call, name="submit"),
            web.get("/v2/projects/p-1/apps/p-1-app/runs", self._list, name="health"),
            web.delete("/v2/projects/p-1/apps/p-1-app/runs/{job}", self._delete, name="cancel"),
        ]

    async def _call(self, request: web.Request) -> web.StreamResponse:
        body = await body_of(self.world, request)
        job = self.world.begin(body)
        try:
            if request.headers.get("Accept") == "text/event-stream":
                return await self._stream(request, job)
            await job.until("done")
        except asyncio.CancelledError:
            self.world.hung_up += 1
            raise
        return self._whole(job)

    def _whole(self, job: Job) -> web.Response:
        if job.state == "cancelled":
            return web.json_response({"message": "cancelled"}, status=504)
        if job.fails:
            return web.json_response({"message": "CUDA out of memory, said secret-key"}, status=500)
        shown = {"run_id": job.id, "run_time_ms": job.millis[1], "result": job.output}
        return web.json_response(shown, headers={"X-Request-Id": job.id})

    async def _stream(self, request: web.Request, job: Job) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "X-Request-Id": job.id})
        await response.prepare(request)
        await job.until("running")
        if job.state == "running":
            await self._event(response, {"hedgerow": "started"})
        await job.until("done")
        if job.state == "cancelled":
            assert request.transport is not None
            request.transport.close()
            return response
        if job.fails:
            await self._event(response, {"error": "CUDA out of memory, said secret-key"})
        else:
            await self._event(response, {"hedgerow": "result", "result": job.output, "run_time_ms": job.millis[1]})
        return response

    async def _event(self, response: web.StreamResponse, event: dict[str, Any]) -> None:
        await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")

    async def _list(self, _request: web.Request) -> web.Response:
        # Its states are never brought up to date after a cancel.
        jobs = self.world.jobs.values()
        listed = [{"id": job.id, "status": "success" if job.state == "done" else "running"} for job in jobs]
        return web.json_response({"items": listed})

    async def _delete(self, request: web.Request) -> web.Response:
        job = self.world.jobs.get(request.match_info["job"])
        if job is None:
            return web.json_response({"message": "Run not found in running state"}, status=404)
        job.cancel()
        return web.json_response({})
