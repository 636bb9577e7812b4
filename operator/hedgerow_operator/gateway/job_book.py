"""Which jobs of one endpoint there are, in the journal: whoever asks for one after its gateway was killed is told."""

import time
from collections.abc import Iterable

from hedgerow_operator.gateway.journal import Journal
from hedgerow_operator.gateway.journal_entries import KeptJob


class EndpointJobs:
    """See JobBook. left: those of an earlier process."""

    def __init__(self, endpoint: str, journal: Journal, left: Iterable[KeptJob]) -> None:
        self._endpoint, self._journal, self._left = endpoint, journal, tuple(left)

    def left(self) -> tuple[KeptJob, ...]:
        """See JobBook."""
        now, left, self._left = time.time(), self._left, ()
        return tuple(job for job in left if job.until > now)

    async def begun(self, job_id: str, seconds: float, webhook: str) -> None:
        """See JobBook."""
        until = time.time() + seconds
        await self._journal.job_begun(KeptJob(id=job_id, endpoint=self._endpoint, until=until, webhook=webhook))

    def ended(self, job_id: str, state: str, error: str, seconds: float) -> None:
        """See JobBook."""
        until = time.time() + seconds
        self._journal.job(KeptJob(id=job_id, endpoint=self._endpoint, until=until, state=state, error=error))

    def forgotten(self, job_id: str) -> None:
        """See JobBook."""
        self._journal.job_forgotten(job_id)
