"""An endpoint of type LOAD_BALANCER: no queue; a worker is asked by any path, or nobody is there."""

from hedgerow_operator.adapters.providers.contract import Health, ProviderError
from hedgerow_operator.adapters.providers.passthrough import PassThrough
from hedgerow_operator.adapters.providers.runpod.management import MANAGEMENT, Management
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Trouble


class RunPodBalanced(PassThrough):
    """See Provider. url: where it is not https://ID.api.runpod.ai."""

    def __init__(
        self,
        setup: Setup,
        endpoint_id: str,
        *,
        url: str = "",
        management: str = MANAGEMENT,
    ) -> None:
        super().__init__(setup, url or f"https://{endpoint_id}.api.runpod.ai")
        self._management = Management(setup, endpoint_id, management, self._connection)

    async def health(self) -> Health:
        """By its workers' list, since a ping would start one."""
        try:
            workers = await self._management.workers()
        except ProviderError as error:
            return Health(ok=isinstance(error, Trouble) and error.status == 429, sentence=str(error))
        known = workers.running is not None and workers.idle is not None
        return Health(ok=True, warm=(workers.running or 0) + (workers.idle or 0) if known else None)

    async def set_warm(self, workers: int) -> bool:
        """See Provider."""
        await self._management.set_warm(workers)
        return True
