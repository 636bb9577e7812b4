"""Servers that are asked as the client asks us: OpenAI's protocol and plain HTTP, with answers as they come."""

from collections.abc import AsyncGenerator, Mapping

from hedgerow_operator.adapters.providers.channels import ChannelAttempt, own_name, within
from hedgerow_operator.adapters.providers.connection import Connection
from hedgerow_operator.adapters.providers.contract import Call, Health, ProviderError, Update
from hedgerow_operator.adapters.providers.exchange import Asked, answered, asked, exchange
from hedgerow_operator.adapters.providers.limiter import Limiter
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Trouble
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt, Scope

_HEALTH_SECONDS = 5.0


class PassThrough:
    """See Provider. url: what ``Call.path`` is put behind. A Secret's apiKey is sent as a bearer token, unless
    ``headers`` say how instead. connection: shared with others that ask the same provider.
    """

    shows_start = False
    free_in_queue = False
    can_stream = True

    def __init__(
        self,
        setup: Setup,
        url: str,
        *,
        health_path: str = "/health",
        headers: Mapping[str, str] | None = None,
        limiter: Limiter | None = None,
        connection: Connection | None = None,
    ) -> None:
        self.name, self._setup = setup.name, setup
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self.url, self._health_path = url.rstrip("/"), health_path
        self._connection = connection or Connection(setup, bearer(setup) if headers is None else headers)
        self._limiter = limiter or setup.attempts(self.url)

    async def submit(self, call: Call) -> ChannelAttempt:
        """See Provider."""
        one = asked(call, self.name, joined(self.url, call.path), self._setup.scale)
        talk = within(self._limiter, self._exchange(one))
        return ChannelAttempt(self._setup, own_name(), talk)

    async def recover(self, job_id: str) -> Receipt:
        """Its connection ended with the gateway that had it."""
        return orphaned(self._setup, job_id)

    async def health(self) -> Health:
        """See Provider."""
        return await asked_health(self._connection, self.name, self.url + self._health_path)

    async def set_warm(self, workers: int) -> bool:
        """There is no such knob."""
        return False

    async def close(self) -> None:
        """See Provider."""
        await self._connection.close()

    def _exchange(self, one: Asked) -> AsyncGenerator[Update, None]:
        return exchange(self._connection, one, answered)


def bearer(setup: Setup, key: str = "apiKey") -> dict[str, str]:
    """The header that shows who we are; none where the Secret has no such key."""
    return {"Authorization": f"Bearer {setup.secrets[key]}"} if setup.secrets.get(key) else {}


def joined(url: str, path: str) -> str:
    """A path below an address."""
    return f"{url}/{path.lstrip('/')}" if path.strip("/") else url


async def asked_health(connection: Connection, name: str, url: str) -> Health:
    """By a GET that starts no work: an answer of any kind below 500 says that it is there."""
    try:
        await connection.ask(f"the health of {name}", "GET", url, seconds=_HEALTH_SECONDS)
    except ProviderError as error:
        # Many servers have no such path; but then they do answer.
        there = isinstance(error, Trouble) and 0 < error.status < 500 and error.status not in (401, 402, 403)
        return Health(ok=there, sentence="" if there else str(error))
    return Health(ok=True)


def orphaned(setup: Setup, job_id: str) -> Receipt:
    """The receipt of a request that went down with the process that had its connection."""
    return Receipt(
        provider=setup.name,
        job_id=job_id,
        evidence=Evidence.CHANNEL_CLOSED,
        scope=Scope.REQUEST,
        leaked=not setup.stops_on_disconnect,
        note="its connection ended with the gateway that had made it",
    )
