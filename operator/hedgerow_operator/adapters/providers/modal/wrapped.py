"""A function behind our wrapper app (examples/providers), which spawns it, asks for its result, cancels it."""

from hedgerow_operator.adapters.providers.connection import Connection
from hedgerow_operator.adapters.providers.contract import Call, Health, ProviderError
from hedgerow_operator.adapters.providers.jobs import JobAttempt, Jobs
from hedgerow_operator.adapters.providers.modal.credentials import proxy_auth
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.values import count
from hedgerow_operator.adapters.providers.wrapped import WrappedJobs
from hedgerow_operator.core.hedging.receipts import Receipt


class ModalWrapped:
    """See Provider. url: of the wrapper app. Secret: tokenId and tokenSecret of a proxy auth token."""

    shows_start = True
    free_in_queue = True
    can_stream = False

    def __init__(self, setup: Setup, url: str) -> None:
        self.name = setup.name
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self._connection = Connection(setup, proxy_auth(setup))
        # FunctionCall.cancel ends the input; its container idles on until its scaledown window is over.
        self._api = WrappedJobs(setup, url, self._connection, ends_when_acknowledged=True)
        self._jobs = Jobs(self._api)

    async def submit(self, call: Call) -> JobAttempt:
        """See Provider."""
        return await self._jobs.submit(call)

    async def recover(self, job_id: str) -> Receipt:
        """See Provider."""
        return await self._jobs.recover(job_id)

    async def health(self) -> Health:
        """See Provider."""
        try:
            said = await self._api.stats()
        except ProviderError as error:
            return Health(ok=False, sentence=str(error))
        return Health(ok=True, warm=count(said.get("runners")), queued=count(said.get("backlog")))

    async def set_warm(self, workers: int) -> bool:
        """See Provider. Modal forgets it when the app is deployed again."""
        await self._api.scale(workers)
        return True

    async def close(self) -> None:
        """See Provider."""
        await self._connection.close()
