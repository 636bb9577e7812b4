"""An API of jobs that Hedgerow does not know by itself, like fal's queue: it is declared."""

from aiohttp import web

from tests.gateway.conformance.channel import done
from tests.gateway.conformance.serving import Api, body_of

_STATES = {
    "queued": "IN_QUEUE",
    "running": "IN_PROGRESS",
    "done": "COMPLETED",
    "failed": "ERROR",
    "cancelled": "CANCELED",
}


class QueueApi(Api):
    """Jobs below /app, and /sync, which answers when all is done."""

    token = "Key secret-key"

    def routes(self) -> list[web.RouteDef]:
        """See Api."""
        return [
            web.post("/app", self._submit, name="submit"),
            web.post("/sync", self._sync, name="submit-sync"),
            web.get("/app/requests/{job}/status", self._status, name="status"),
            web.get("/app/requests/{job}", self._result, name="result"),
            web.put("/app/requests/{job}/cancel", self._cancel, name="cancel"),
        ]

    async def _submit(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        return web.json_response({"data": {"request_id": self.world.begin(body["arguments"]).id}})

    async def _sync(self, request: web.Request) -> web.Response:
        job = await done(self, (await body_of(self.world, request))["arguments"])
        if job.fails:
            return web.json_response({"detail": "CUDA out of memory, said secret-key"}, status=500)
        return web.json_response({"data": [{"output": job.output}]})

    async def _status(self, request: web.Request) -> web.Response:
        job = self.world.jobs.get(request.match_info["job"])
        if job is None or (self.world.expired and job.ended):
            return web.json_response({"detail": "no such request"}, status=404)
        shown = {"status": _STATES[job.state]}
        if job.state == "failed":
            shown["error"] = "CUDA out of memory, said secret-key"
        return web.json_response(shown)

    async def _result(self, request: web.Request) -> web.Response:
        return web.json_response({"data": [{"output": self.world.jobs[request.match_info["job"]].output}]})

    async def _cancel(self, request: web.Request) -> web.Response:
        job = self.world.jobs.get(request.match_info["job"])
        if job is None:
            return web.json_response({"detail": "no such request"}, status=404)
        if job.ended:
            return web.json_response({"detail": "ALREADY_COMPLETED"}, status=400)
        job.cancel()
        return web.json_response({"status": "CANCELLATION_REQUESTED"}, status=202)
