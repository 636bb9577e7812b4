"""See Provider. Nothing but closing the connection ends a request here."""

import asyncio
from collections.abc import AsyncGenerator

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.channels import ChannelAttempt, own_name, within
from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.contract import Answer, Call, Health, ProviderError, Update
from hedgerow_operator.adapters.providers.exchange import LONGEST_SECONDS, asked, exchange, passed_on
from hedgerow_operator.adapters.providers.guard import Guard
from hedgerow_operator.adapters.providers.passthrough import bearer, joined, orphaned
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Reply
from hedgerow_operator.adapters.providers.values import mapping, rows, text
from hedgerow_operator.adapters.providers.vast.route import ROUTE, body_of, routed
from hedgerow_operator.core.hedging.receipts import Receipt
from hedgerow_operator.core.hedging.seen import AttemptState

API = "https://console.vast.ai/api/v0"
WORKERS = "https://run.vast.ai/get_endpoint_workers/"
_ROUTE_AGAIN_SECONDS = 1.0
# Between two management calls of one kind; docs name 1 to 4.5 s, and answer 429 without saying when.
_MANAGEMENT_SECONDS = 4.5
_READY = frozenset({"IDLE", "READY"})


class Vast:
    """endpoint: its name. endpoint_id: its number, for health and warm workers; 0: neither is asked. path: of the
    worker, where the call has none. cost: of one request, in what the workers count. Secret: apiKey.

    A worker is a machine that the router names, so its address may not be in a private network, and it never sees the
    key.
    """

    shows_start = True
    free_in_queue = True
    can_stream = True

    def __init__(
        self,
        setup: Setup,
        endpoint: str,
        *,
        endpoint_id: int = 0,
        path: str = "/generate",
        cost: float = 1.0,
        route: str = ROUTE,
        workers: str = WORKERS,
        api: str = API,
    ) -> None:
        self.name, self._setup = setup.name, setup
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self._endpoint, self._endpoint_id, self._path, self._cost = endpoint, endpoint_id, path, cost
        self._route, self._workers, self._api = route, workers, api.rstrip("/")
        self._connection = Connection(setup, bearer(setup))
        self._worker = Connection(setup, guard=Guard(setup.allowed_networks, private=False))
        self._limiter = setup.attempts(f"{route} {endpoint}")
        self._update = setup.limiter(api, "update", 1, _MANAGEMENT_SECONDS)
        self._list = setup.limiter(workers, "list", 1, _MANAGEMENT_SECONDS)

    async def submit(self, call: Call) -> ChannelAttempt:
        """See Provider."""
        return ChannelAttempt(self._setup, own_name(), within(self._limiter, self._talk(call)))

    async def recover(self, job_id: str) -> Receipt:
        """See Provider."""
        return orphaned(self._setup, job_id)

    async def health(self) -> Health:
        """See Provider."""
        if not self._endpoint_id:
            return Health(ok=True, sentence="not asked: the number of the endpoint is not given")
        what = f"the workers of {self.name}"
        try:
            body = {"id": self._endpoint_id}
            reply = await self._connection.ask(what, "POST", self._workers, json=body, limiter=self._list)
            said = read_json(what, reply)
        except ProviderError as error:
            return Health(ok=False, sentence=str(error))
        if isinstance(said, str):
            return Health(ok=False, sentence=f"{what}: {self._connection.scrubbed(said[:200])}")
        workers = rows(mapping(said).get("workers"))
        return Health(ok=True, warm=sum(text(one.get("status")).upper() in _READY for one in workers))

    async def set_warm(self, workers: int) -> bool:
        """See Provider. Raises ProviderError."""
        if not self._endpoint_id:
            return False
        what, url = f"the number of warm workers of {self.name}", f"{self._api}/endptjobs/{self._endpoint_id}/"
        await self._connection.ask(what, "PUT", url, json={"cold_workers": workers}, limiter=self._update)
        return True

    async def close(self) -> None:
        """See Provider."""
        await self._connection.close()
        await self._worker.close()

    async def _talk(self, call: Call) -> AsyncGenerator[Update, None]:
        found, ends = None, self._now + (call.deadline or LONGEST_SECONDS) * self._setup.scale
        while found is None or not found.url:
            if found is not None:
                yield Update(state=AttemptState.QUEUED)
                await asyncio.sleep(_ROUTE_AGAIN_SECONDS * self._setup.scale)
            if self._now > ends:
                why = f"the router of {self.name} found no worker in time ({found.status if found else 'none'})"
                raise ProviderError(why, safe_to_retry=True)
            found = await routed(self._connection, self._route, self._endpoint, self._cost)
        yield Update(state=AttemptState.RUNNING)
        body, url = body_of(call, found), joined(found.url, call.path or self._path)
        headers = {**call.headers, "Content-Type": "application/json"}
        one = asked(replace(call, body=body, headers=headers, method="POST"), self.name, url, self._setup.scale)
        async for update in exchange(self._worker, one, self._read):
            yield update

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _read(self, reply: Reply) -> Update:
        said = reply.said
        output = said if not isinstance(said, str) else None
        answer = Answer(status=reply.status, headers=passed_on(reply.headers), body=reply.body, output=output)
        return Update(state=AttemptState.VALID, answer=answer)
