"""Lambda's instances API, within its limits: one call a second, one launch in 12 s."""

from collections.abc import Sequence

from msgspec import Struct

from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.values import mapping, rows, text

API = "https://cloud.lambdalabs.com/api/v1"
_LAUNCH_SECONDS = 12.0
_GONE = frozenset({"terminating", "terminated"})


class Machine(Struct, frozen=True, kw_only=True):
    """status: booting, active, unhealthy. address: empty while it boots."""

    id: str
    status: str
    address: str = ""


class Pool(Struct, frozen=True, kw_only=True):
    """Which machines are meant. name: ours are called so, and no others are ever touched."""

    name: str
    instance_type: str
    region: str
    ssh_key: str


class Machines:
    """All raise ProviderError."""

    def __init__(self, setup: Setup, pool: Pool, api: str, connection: Connection) -> None:
        self._pool, self._api, self._connection = pool, api.rstrip("/"), connection
        self._any = setup.limiter(self._api, "any", 1, 1.0)
        self._launch = setup.limiter(self._api, "launch", 1, _LAUNCH_SECONDS)

    async def list(self) -> tuple[Machine, ...]:
        """Those of the pool that are there or coming."""
        what = "the list of machines"
        reply = await self._connection.ask(what, "GET", f"{self._api}/instances", limiter=self._any)
        found = rows(mapping(read_json(what, reply)).get("data"))
        return tuple(
            Machine(id=text(one.get("id")), status=text(one.get("status")), address=text(one.get("ip")))
            for one in found
            if one.get("name") == self._pool.name and text(one.get("status")) not in _GONE and text(one.get("id"))
        )

    async def launch(self) -> None:
        """One more."""
        pool = self._pool
        body = {
            "region_name": pool.region,
            "instance_type_name": pool.instance_type,
            "ssh_key_names": [pool.ssh_key],
            "file_system_names": [],
            "quantity": 1,
            "name": pool.name,
        }
        what, url = f"the launch of a {pool.instance_type}", f"{self._api}/instance-operations/launch"
        async with self._launch.turn():
            reply = await self._connection.ask(what, "POST", url, json=body, limiter=self._any)
        if not mapping(mapping(read_json(what, reply)).get("data")).get("instance_ids"):
            raise ProviderError(f"{what} was answered without a machine")

    async def terminate(self, ids: Sequence[str]) -> None:
        """End these."""
        body, url = {"instance_ids": list(ids)}, f"{self._api}/instance-operations/terminate"
        await self._connection.ask("the end of machines", "POST", url, json=body, limiter=self._any)
