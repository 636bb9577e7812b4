"""An endpoint of type QUEUE: jobs, and OpenAI's protocol below /openai where its worker speaks it."""

from hedgerow_operator.adapters.providers.channels import ChannelAttempt
from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.contract import OUR_NAMES, Call, Health, ProviderError
from hedgerow_operator.adapters.providers.jobs import JobAttempt, Jobs
from hedgerow_operator.adapters.providers.passthrough import PassThrough, bearer, orphaned
from hedgerow_operator.adapters.providers.runpod.jobs import RunPodJobs
from hedgerow_operator.adapters.providers.runpod.management import MANAGEMENT, Management
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.values import count, mapping
from hedgerow_operator.core.hedging.receipts import Receipt

API = "https://api.runpod.ai/v2"


class RunPod:
    """See Provider. A call with a path is OpenAI's protocol, one without is a job. Secret: apiKey."""

    shows_start = True
    free_in_queue = True
    can_stream = True

    def __init__(self, setup: Setup, endpoint_id: str, *, api: str = API, management: str = MANAGEMENT) -> None:
        self.name, self._setup = setup.name, setup
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self._url = f"{api.rstrip('/')}/{endpoint_id}"
        self._connection = Connection(setup, bearer(setup))
        jobs = RunPodJobs(setup, self._url, self._connection)
        self.jobs = Jobs(jobs, looks=jobs.looks)
        self._openai = PassThrough(
            setup,
            f"{self._url}/openai",
            limiter=setup.limiter(self._url, "openai", 2000, concurrent=400),
            connection=self._connection,
        )
        self._management = Management(setup, endpoint_id, management, self._connection)
        self._health = setup.limiter(self._url, "health", 10, concurrent=2)

    async def submit(self, call: Call) -> JobAttempt | ChannelAttempt:
        """See Provider."""
        return await (self._openai if call.path else self.jobs).submit(call)

    async def recover(self, job_id: str) -> Receipt:
        """See Provider."""
        return orphaned(self._setup, job_id) if job_id.startswith(OUR_NAMES) else await self.jobs.recover(job_id)

    async def health(self) -> Health:
        """See Provider."""
        what = f"the health of {self.name}"
        try:
            reply = await self._connection.ask(what, "GET", f"{self._url}/health", limiter=self._health)
            said = mapping(read_json(what, reply))
        except ProviderError as error:
            return Health(ok=False, sentence=str(error))
        workers, jobs = mapping(said.get("workers")), mapping(said.get("jobs"))
        idle, running = count(workers.get("idle")), count(workers.get("running"))
        return Health(
            ok=True,
            warm=None if idle is None or running is None else idle + running,
            queued=count(jobs.get("inQueue")),
            sentence=_odd(count(workers.get("throttled")), idle, running),
        )

    async def set_warm(self, workers: int) -> bool:
        """See Provider."""
        await self._management.set_warm(workers)
        return True

    async def close(self) -> None:
        """See Provider."""
        await self._connection.close()


def _odd(throttled: int | None, idle: int | None, running: int | None) -> str:
    if throttled and not idle and not running:
        return f"all of its workers ({throttled}) are throttled: there is no capacity where it may run"
    return ""
