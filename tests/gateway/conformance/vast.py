"""Vast's router and a worker of its (reference/providers.md 3)."""

from aiohttp import web

from tests.gateway.conformance.channel import done
from tests.gateway.conformance.serving import Api, body_of


class VastApi(Api):
    """busy: so many routes are answered without a worker, as while one loads."""

    busy = 0

    def routes(self) -> list[web.RouteDef]:
        """See Api."""
        return [
            web.post("/route/", self._route, name="route"),
            web.post("/generate", self._generate, name="submit"),
            web.post("/get_endpoint_workers/", self._workers, name="health"),
            web.put("/api/v0/endptjobs/7/", self._update, name="warm"),
        ]

    def trusts(self, request: web.Request) -> bool:
        """A worker goes by the router's signature, and is never shown the key."""
        if request.match_info.route.name == "submit":
            return "Authorization" not in request.headers
        return super().trusts(request)

    async def _route(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        if self.busy:
            self.busy -= 1
            return web.json_response({"endpoint": body["endpoint"], "status": "Stopped: 0 ready", "__request_id": 1})
        signed = {"endpoint": body["endpoint"], "url": self.url, "cost": body["cost"], "reqnum": 3}
        return web.json_response({**signed, "signature": "signed", "__request_id": 1})

    async def _generate(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        if body["auth_data"]["signature"] != "signed" or body["auth_data"]["reqnum"] != 3:
            return web.json_response({"error": "bad signature"}, status=401)
        job = await done(self, body["payload"])
        if job.fails:
            return web.json_response({"error": "CUDA out of memory"}, status=500)
        return web.json_response(job.output)

    async def _workers(self, _request: web.Request) -> web.Response:
        workers = [{"id": 1, "status": "IDLE", "url": self.url}, {"id": 2, "status": "LOADING", "url": ""}]
        return web.json_response({"workers": workers})

    async def _update(self, request: web.Request) -> web.Response:
        self.world.warm = (await body_of(self.world, request))["cold_workers"]
        return web.json_response({"success": True})
