"""Attempts at providers that take a job, show its state, and end it when told."""

import asyncio
from collections.abc import AsyncIterator

from hedgerow_operator.adapters.providers.contract import Call, ProviderError, Update
from hedgerow_operator.adapters.providers.ending import Ending
from hedgerow_operator.adapters.providers.job_api import JobApi, Look, Taken
from hedgerow_operator.adapters.providers.job_cancel import end_job
from hedgerow_operator.adapters.providers.limiter import Limiter
from hedgerow_operator.adapters.providers.troubles import Trouble
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt
from hedgerow_operator.core.hedging.seen import AttemptState

# GPUHedge's rounds have quick workers that begin within 1.1 to 2.0 s and slow ones from 8.9 s on: looks that are far
# between would see both alike.
_FIRST_LOOK = 0.2
_USUAL_LOOK = 0.5
_LOOK_GROWTH = 1.25
# Of a documented limit this much is for looks, the rest for cancels that look too.
_SHARE_OF_LIMIT = 0.8
# A job that was just taken may not be known everywhere yet.
_LAG_SECONDS = 3.0
# So many looks in a row may fail: they are bursts of errors at the provider, not the end of the job.
_MOST_FAILED_LOOKS = 8
_GRADES = tuple(Evidence)


class Jobs:
    """All jobs at one provider. looks: where these have a limit, with the jobs of others that share it."""

    def __init__(self, api: JobApi, poll_seconds: float | None = None, looks: Limiter | None = None) -> None:
        self.api, self._poll_seconds = api, poll_seconds
        self.looks = looks or Limiter()

    async def submit(self, call: Call) -> "JobAttempt":
        """Raises ProviderError."""
        return JobAttempt(self, await self.api.begin(call))

    async def recover(self, job_id: str) -> Receipt:
        """End a job of which only the id is known. Never raises."""
        ending = Ending(self.api.setup, job_id, free_in_queue=self.api.free_in_queue, was_running=None)
        return await end_job(self.api, ending, None)

    def pause(self, looks: int) -> float:
        """Seconds until the next look at a job after so many."""
        usual = min(_USUAL_LOOK, _FIRST_LOOK * _LOOK_GROWTH ** min(looks, 10)) * self.api.setup.scale
        if self._poll_seconds is not None:
            return self._poll_seconds * self.api.setup.scale
        if self.api.looks_per_second is None:
            return usual
        return max(usual, self.looks.watched * self.api.setup.scale / (_SHARE_OF_LIMIT * self.api.looks_per_second))


class JobAttempt:
    """See Attempt."""

    def __init__(self, jobs: Jobs, taken: Taken) -> None:
        self.job_id = taken.job_id
        self._jobs, self._api, self._seen = jobs, jobs.api, taken.look
        self._loop = asyncio.get_running_loop()
        self._began, self._running_since = self._loop.time(), None if not _runs(taken.look) else self._loop.time()
        self._receipt: Receipt | None = None

    async def updates(self) -> AsyncIterator[Update]:
        """See Attempt."""
        self._jobs.looks.watched += 1
        try:
            async for update in self._watch():
                yield update
        finally:
            self._jobs.looks.watched -= 1

    async def cancel(self) -> Receipt:
        """See Attempt."""
        ending = Ending(
            self._api.setup,
            self.job_id,
            free_in_queue=self._api.free_in_queue,
            was_running=_was_running(self._seen),
        )
        receipt = await end_job(self._api, ending, self._seen, self._ran)
        if self._receipt is None or _GRADES.index(receipt.evidence) >= _GRADES.index(self._receipt.evidence):
            self._receipt = receipt
        return self._receipt

    async def _watch(self) -> AsyncIterator[Update]:
        look, looks = self._seen, 0
        shown: AttemptState | None = None
        while True:
            if look.state is not shown:
                shown = look.state
                yield _update(look)
            if look.ended:
                return
            await asyncio.sleep(self._jobs.pause(looks))
            look, looks = await self._look(), looks + 1
            self._seen = look
            if self._running_since is None and _runs(look):
                self._running_since = self._loop.time()

    async def _look(self) -> Look:
        """The next look that shows anything; looks that fail too often are the end."""
        failed = 0
        while True:
            try:
                return await self._api.look(self.job_id)
            except ProviderError as error:
                failed += 1
                if self._is_final(error) or failed >= _MOST_FAILED_LOOKS:
                    return Look(state=AttemptState.FAILED, error=error)
            await asyncio.sleep(_USUAL_LOOK * failed * self._api.setup.scale)

    def _is_final(self, error: ProviderError) -> bool:
        lag = self._loop.time() - self._began < _LAG_SECONDS * self._api.setup.scale
        gone = isinstance(error, Trouble) and error.status in (404, 410)
        return error.credentials or error.exhausted or (gone and not lag)

    def _ran(self, look: Look | None) -> float | None:
        if look is not None and look.execution_seconds is not None:
            return look.execution_seconds
        if self._running_since is None:
            return None
        return (self._loop.time() - self._running_since) / self._api.setup.scale


def _runs(look: Look) -> bool:
    return look.state is AttemptState.RUNNING


def _was_running(look: Look) -> bool | None:
    return {AttemptState.QUEUED: False, AttemptState.RUNNING: True}.get(look.state)


def _update(look: Look) -> Update:
    if look.state is AttemptState.CANCELLED:
        return Update(state=AttemptState.FAILED, error=look.error or ProviderError("it was cancelled"))
    if look.state is AttemptState.FAILED:
        return Update(state=AttemptState.FAILED, error=look.error or ProviderError("it has failed"), answer=look.answer)
    return Update(state=look.state, answer=look.answer)
