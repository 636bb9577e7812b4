"""Lambda's instances (reference/providers.md 4). Machines boot for a while; there may be no capacity."""

import asyncio

from aiohttp import web

from tests.gateway.conformance.serving import Api, body_of
from tests.gateway.conformance.world import World

_BOOT_SECONDS = 5.0


class LambdaApi(Api):
    """Somebody else's machine is in the same account."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.machines: dict[str, tuple[str, float]] = {"i-theirs": ("somebody else's", 0.0)}
        self.capacity = True

    def routes(self) -> list[web.RouteDef]:
        """See Api."""
        return [
            web.get("/instances", self._list, name="health"),
            web.post("/instance-operations/launch", self._launch, name="launch"),
            web.post("/instance-operations/terminate", self._terminate, name="terminate"),
        ]

    def add(self, name: str) -> str:
        """A machine that boots."""
        ready = asyncio.get_running_loop().time() + _BOOT_SECONDS * self.world.scale
        machine = f"i-{len(self.machines)}"
        self.machines[machine] = (name, ready)
        return machine

    async def _list(self, _request: web.Request) -> web.Response:
        now = asyncio.get_running_loop().time()
        data = [
            {"id": machine, "name": name, "status": "active" if now >= ready else "booting", "ip": "127.0.0.1"}
            for machine, (name, ready) in self.machines.items()
        ]
        return web.json_response({"data": data})

    async def _launch(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        if not self.capacity:
            code = "instance-operations/launch/insufficient-capacity"
            return web.json_response({"error": {"code": code, "message": "Not enough capacity"}}, status=400)
        return web.json_response({"data": {"instance_ids": [self.add(body["name"])]}})

    async def _terminate(self, request: web.Request) -> web.Response:
        body = await body_of(self.world, request)
        for machine in body["instance_ids"]:
            del self.machines[machine]
        return web.json_response({"data": {"terminated_instances": body["instance_ids"]}})
