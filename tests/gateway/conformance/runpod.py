"""RunPod's queue, its load balancer and REST v2, as its documentation says (reference/providers.md 1)."""

from typing import Any

from aiohttp import web

from tests.gateway.conformance.quota import Quota
from tests.gateway.conformance.serving import Api, body_of
from tests.gateway.conformance.world import Job, World

_STATES = {
    "queued": "IN_QUEUE",
    "running": "IN_PROGRESS",
    "done": "COMPLETED",
    "failed": "FAILED",
    "cancelled": "CANCELLED",
}


class RunPodApi(Api):
    """quota: of cancels. eager: a job counts as IN_PROGRESS before its container is ready. unknown_seconds: so long
    after its submit a job is not known yet. workers: of /health.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        # Both sides measure the window: at its edges a tenth of it is left to the network.
        self.quota = Quota(100, 9.0 * world.scale, 20)
        self.eager, self.unknown_seconds = False, 0.0
        self.workers = {"idle": 1, "running": 0}

    def routes(self) -> list[web.RouteDef]:
        """See Api."""
        return [
            web.post("/v2/ep/run", self._run, name="submit"),
            web.post("/v2/ep/runsync", self._runsync, name="runsync"),
            web.get("/v2/ep/status/{job}", self._status, name="status"),
            web.post("/v2/ep/cancel/{job}", self._cancel, name="cancel"),
            web.get("/v2/ep/health", self._health, name="health"),
            web.patch("/management/serverless/ep", self._patch, name="warm"),
            web.get("/management/serverless/ep/workers", self._workers, name="workers"),
        ]

    async def _run(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        if "input" not in body:
            return web.json_response({"error": "input is required"}, status=400)
        return web.json_response({"id": self.world.begin(body["input"]).id, "status": "IN_QUEUE"})

    async def _runsync(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        return web.json_response(self._shown(self.world.begin(body["input"])))

    async def _status(self, request: web.Request) -> web.Response:
        job = self.world.jobs.get(request.match_info["job"])
        if job is None or job.age < self.unknown_seconds or (self.world.expired and job.ended):
            return web.json_response({"error": "job not found"}, status=404)
        return web.json_response(self._shown(job))

    async def _cancel(self, request: web.Request) -> web.Response:
        if not self.quota.enter():
            return web.json_response({"title": "Too Many Requests", "status": 429}, status=429)
        try:
            job = self.world.jobs.get(request.match_info["job"])
            if job is None:
                return web.json_response({"error": "job not found"}, status=404)
            job.cancel()
            return web.json_response({"id": job.id, "status": "CANCELLED"})
        finally:
            self.quota.leave()

    async def _health(self, _request: web.Request) -> web.Response:
        states = [job.state for job in self.world.jobs.values()]
        jobs = {"completed": states.count("done"), "failed": states.count("failed"), "retried": 0}
        jobs |= {"inProgress": states.count("running"), "inQueue": states.count("queued")}
        return web.json_response({"jobs": jobs, "workers": self.workers})

    async def _patch(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        self.world.warm = body["workers"]["min"]
        return web.json_response({"id": "ep", "workers": body["workers"]})

    async def _workers(self, _request: web.Request) -> web.Response:
        summary = {"running": 1, "idle": 2, "initializing": 0, "throttled": 0, "unhealthy": 0, "total": 3}
        return web.json_response({"workers": [], "summary": summary, "endpointVersion": 1})

    def _shown(self, job: Job) -> dict[str, Any]:
        state = "running" if self.eager and job.state == "queued" else job.state
        shown: dict[str, Any] = {"id": job.id, "status": _STATES[state]}
        queue, run = job.millis
        if job.state != "queued":
            shown |= {"delayTime": queue, "executionTime": run}
        if job.state == "done":
            shown["output"] = job.output
        if job.state == "failed":
            shown["error"] = "CUDA out of memory, said secret-key"
        return shown
