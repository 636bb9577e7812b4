"""Our small server before a function or on a machine: what examples/providers describes."""

from typing import Any

from aiohttp import web

from tests.gateway.conformance.serving import Api, body_of


class WrapperApi(Api):
    """credentials: the headers that it wants to see. cancels_at_once: of Modal nothing is shown after a cancel."""

    def __init__(self, world: Any, credentials: dict[str, str]) -> None:
        super().__init__(world)
        self._credentials = credentials

    def routes(self) -> list[web.RouteDef]:
        """See Api."""
        return [
            web.post("/submit", self._submit, name="submit"),
            web.get("/result/{job}", self._result, name="status"),
            web.post("/cancel/{job}", self._cancel, name="cancel"),
            web.get("/stats", self._stats, name="health"),
            web.post("/autoscaler", self._autoscaler, name="warm"),
        ]

    def trusts(self, request: web.Request) -> bool:
        """See Api."""
        return all(request.headers.get(name) == value for name, value in self._credentials.items())

    async def _submit(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        return web.json_response({"call_id": self.world.begin(body["input"]).id})

    async def _result(self, request: web.Request) -> web.Response:
        job = self.world.jobs.get(request.match_info["job"])
        if job is None or (self.world.expired and job.ended):
            return web.json_response({"state": "unknown"}, status=404)
        queue, run = job.millis
        shown: dict[str, Any] = {"state": job.state, "queue_ms": queue, "execution_ms": run}
        if job.state == "done":
            shown["output"] = job.output
        if job.state == "failed":
            shown["error"] = f"CUDA out of memory, said {next(reversed(self._credentials.values()))}"
        return web.json_response(shown, status=200 if job.ended else 202)

    async def _cancel(self, request: web.Request) -> web.Response:
        job = self.world.jobs.get(request.match_info["job"])
        if job is None:
            return web.json_response({}, status=404)
        job.cancel()
        return web.json_response({})

    async def _stats(self, _request: web.Request) -> web.Response:
        states = [job.state for job in self.world.jobs.values()]
        backlog, running = states.count("queued"), states.count("running")
        return web.json_response({"backlog": backlog, "runners": 1, "running": running, "headroom": 1})

    async def _autoscaler(self, request: web.Request) -> web.Response:
        self.world.warm = (await body_of(self.world, request))["min_containers"]
        return web.json_response({})
