"""See Provider: attempts that are taken or refused as a script says."""

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Call, Health, ProviderError
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.simulated.answers import asked_round
from hedgerow_operator.adapters.providers.simulated.attempt import SimulatedAttempt
from hedgerow_operator.adapters.providers.simulated.script import Fault, Script
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt

# Attempts that are remembered for recover: more than a gateway has running.
_REMEMBERED = 10_000


class Simulated:
    """A request may name the ``round`` whose course it takes; otherwise attempts take them in turn."""

    can_stream = True

    def __init__(self, setup: Setup, script: Script) -> None:
        self.name, self._setup, self._script = setup.name, replace(setup, scale=1.0), script
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self.shows_start = script.shows_queue or script.shows_start
        self.free_in_queue = script.free_in_queue
        self._number = 0
        self._attempts: dict[str, SimulatedAttempt] = {}
        self._warm = 0

    async def submit(self, call: Call) -> SimulatedAttempt:
        """See Provider."""
        self._number += 1
        faults = self._script.faults_of(self._number)
        course = self._script.course(asked_round(call) or self._number)
        if Fault.UNAUTHORIZED in faults:
            raise ProviderError("the simulated credentials are not accepted", safe_to_retry=True, credentials=True)
        if Fault.REFUSE in faults:
            raise ProviderError("its simulated rate limit is used up", safe_to_retry=True, retry_after=1.0)
        if course.refused:
            raise ProviderError("it has refused the attempt, as in the recorded round", safe_to_retry=True)
        attempt = SimulatedAttempt(self._setup, self._script, call, self._number, course)
        self._attempts[attempt.job_id] = attempt
        if len(self._attempts) > _REMEMBERED:
            del self._attempts[next(iter(self._attempts))]
        return attempt

    async def recover(self, job_id: str) -> Receipt:
        """See Provider. What another process has simulated ended with it."""
        if job_id in self._attempts:
            return await self._attempts[job_id].cancel()
        note = "simulated by a process that has ended"
        return Receipt(
            provider=self.name,
            job_id=job_id,
            evidence=Evidence.TERMINAL,
            terminal_status="GONE",
            leaked=False,
            note=note,
        )

    async def health(self) -> Health:
        """See Provider."""
        queued = sum(attempt.waits for attempt in self._attempts.values())
        running = sum(not attempt.waits and not attempt.over for attempt in self._attempts.values())
        return Health(ok=True, warm=max(running, self._warm), queued=queued)

    async def set_warm(self, workers: int) -> bool:
        """See Provider. It is remembered, and changes no course."""
        self._warm = workers
        return True

    async def close(self) -> None:
        """See Provider."""
