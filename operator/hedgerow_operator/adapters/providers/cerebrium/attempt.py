"""One call to Cerebrium: when its run is deleted, that the call breaks off is the only evidence of its end."""

import asyncio
from collections.abc import AsyncGenerator

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.cerebrium.runs import Runs
from hedgerow_operator.adapters.providers.channels import ChannelAttempt
from hedgerow_operator.adapters.providers.contract import ProviderError, Update
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt, Scope

# GPUHedge saw calls break off 1.1 to 2.3 s after the delete, or not at all; it waited 30 s.
_CLOSE_SECONDS = 30.0


class CerebriumAttempt(ChannelAttempt):
    """run_id: set as soon as the answer's head tells it."""

    def __init__(self, setup: Setup, job_id: str, talk: AsyncGenerator[Update, None], runs: Runs) -> None:
        super().__init__(setup, job_id, talk)
        self.run_id = ""
        self._runs = runs

    async def cancel(self) -> Receipt:
        """See Attempt."""
        if self.over:
            return await super().cancel()
        began = asyncio.get_running_loop().time()
        note = await self._deleted()
        closed = not note and await self.until_closed(_CLOSE_SECONDS)
        passed = (asyncio.get_running_loop().time() - began) / self._setup.scale
        receipt = await super().cancel()
        if receipt.evidence is Evidence.TERMINAL or note:
            return replace(receipt, note=note or receipt.note)
        receipt = replace(receipt, evidence=Evidence.CHANNEL_CLOSED, scope=Scope.REQUEST, acknowledged_after=passed)
        if closed:
            return replace(receipt, leaked=False, note="Cerebrium broke the call off after its run was deleted")
        why = f"the call was still open {_CLOSE_SECONDS:.0f} s after its run was deleted"
        return replace(receipt, evidence=Evidence.ACKNOWLEDGED, leaked=True, note=why)

    async def _deleted(self) -> str:
        """Delete the run; why that was not possible, else empty."""
        if not self.run_id:
            return "which run it is was not told, so it could not be deleted; the connection is closed"
        try:
            await self._runs.delete(self.run_id)
        except ProviderError as error:
            return str(error)
        return ""
