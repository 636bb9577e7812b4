"""RunPod's REST v2: the least number of workers, and which there are."""

from msgspec import Struct

from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.values import count, mapping

MANAGEMENT = "https://api.runpod.io/v2"
_PER_MINUTE = 60


class Workers(Struct, frozen=True, kw_only=True):
    """How many are in which state, as the endpoint's summary says; None: it does not."""

    running: int | None
    idle: int | None
    throttled: int | None


class Management:
    """Of one endpoint. Its quota, 60 calls a minute, is shared by all that an account does, so we call rarely."""

    def __init__(self, setup: Setup, endpoint_id: str, base: str, connection: Connection) -> None:
        self._url = f"{base.rstrip('/')}/serverless/{endpoint_id}"
        self._connection, self._name = connection, setup.name
        self._limiter = setup.limiter(base.rstrip("/"), "management", _PER_MINUTE, 60.0)

    async def set_warm(self, workers: int) -> None:
        """Raises ProviderError."""
        await self._connection.ask(
            f"the number of warm workers of {self._name}",
            "PATCH",
            self._url,
            json={"workers": {"min": workers}},
            limiter=self._limiter,
        )

    async def workers(self) -> Workers:
        """Raises ProviderError."""
        what = f"the workers of {self._name}"
        reply = await self._connection.ask(what, "GET", f"{self._url}/workers", limiter=self._limiter)
        summary = mapping(mapping(read_json(what, reply)).get("summary"))
        return Workers(
            running=count(summary.get("running")),
            idle=count(summary.get("idle")),
            throttled=count(summary.get("throttled")),
        )
