"""See Provider. Jobs go to the machine that has the fewest of ours."""

import asyncio
from collections import Counter

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.connection import Connection
from hedgerow_operator.adapters.providers.contract import Call, Health, ProviderError
from hedgerow_operator.adapters.providers.job_api import Look, Taken
from hedgerow_operator.adapters.providers.jobs import JobAttempt, Jobs
from hedgerow_operator.adapters.providers.lambda_pool.machines import API, Machine, Machines, Pool
from hedgerow_operator.adapters.providers.passthrough import bearer
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Trouble
from hedgerow_operator.adapters.providers.values import count, words
from hedgerow_operator.adapters.providers.wrapped import WrappedJobs
from hedgerow_operator.core.hedging.receipts import Receipt

# A list of machines is good for so long; each costs one of the few calls.
_LIST_SECONDS = 10.0
# A machine boots for minutes: nobody need ask again sooner.
_NO_MACHINE_SECONDS = 30.0
_ACTIVE = "active"


class LambdaPool:
    """Secret: apiKey of Lambda, agentToken that our agents want to see. port: of the agents."""

    shows_start = True
    free_in_queue = False
    can_stream = False
    ends_when_acknowledged = False
    looks_per_second: float | None = None

    def __init__(self, setup: Setup, pool: Pool, *, port: int = 8000, api: str = API) -> None:
        self.name, self.setup, self._port = setup.name, setup, port
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self._cloud, self._agents = Connection(setup, bearer(setup)), Connection(setup, bearer(setup, "agentToken"))
        self._machines = Machines(setup, pool, api, self._cloud)
        self._jobs = Jobs(self)
        self._known: tuple[Machine, ...] = ()
        self._listed_at = -_LIST_SECONDS
        self._given: Counter[str] = Counter()
        self._fronts: dict[str, WrappedJobs] = {}

    async def submit(self, call: Call) -> JobAttempt:
        """See Provider."""
        return await self._jobs.submit(call)

    async def recover(self, job_id: str) -> Receipt:
        """See Provider."""
        return await self._jobs.recover(job_id)

    async def health(self) -> Health:
        """See Provider."""
        try:
            machines = await self._list()
        except ProviderError as error:
            return Health(ok=False, sentence=str(error))
        active = [one for one in machines if one.status == _ACTIVE]
        return Health(ok=bool(active), warm=len(active), sentence="" if active else _none(machines))

    async def set_warm(self, workers: int) -> bool:
        """See Provider. Of machines too many, those go that have no job of anybody's."""
        machines = await self._machines.list()
        for _missing in range(workers - len(machines)):
            await self._machines.launch()
        spare = len(machines) - workers
        if spare > 0:
            idle = [one.id for one in machines if await self._is_idle(one)][:spare]
            if idle:
                await self._machines.terminate(idle)
        self._listed_at = -_LIST_SECONDS
        return True

    async def close(self) -> None:
        """See Provider."""
        await self._cloud.close()
        await self._agents.close()

    async def begin(self, call: Call) -> Taken:
        """See JobApi."""
        machines = await self._list()
        active = [one for one in machines if one.status == _ACTIVE and one.address]
        if not active:
            raise ProviderError(_none(machines), safe_to_retry=True, retry_after=_NO_MACHINE_SECONDS)
        machine = min(active, key=lambda one: self._given[one.id])
        self._given[machine.id] += 1
        try:
            taken = await self._agent(machine).begin(call)
        except ProviderError:
            self._given[machine.id] -= 1
            raise
        return replace(taken, job_id=f"{machine.id}:{taken.job_id}")

    async def look(self, job_id: str) -> Look:
        """See JobApi."""
        machine, own = await self._where(job_id)
        look = await self._agent(machine).look(own)
        if look.ended and self._given[machine.id] > 0:
            self._given[machine.id] -= 1
        return look

    async def stop(self, job_id: str) -> None:
        """See JobApi."""
        machine, own = await self._where(job_id)
        await self._agent(machine).stop(own)

    def _agent(self, machine: Machine) -> WrappedJobs:
        host = f"[{machine.address}]" if ":" in machine.address else machine.address
        url = f"http://{host}:{self._port}"
        if url not in self._fronts:
            self._fronts[url] = WrappedJobs(self.setup, url, self._agents, ends_when_acknowledged=False)
        return self._fronts[url]

    async def _where(self, job_id: str) -> tuple[Machine, str]:
        machine_id, _colon, own = job_id.partition(":")
        for machine in self._known or await self._list():
            if machine.id == machine_id and machine.address:
                return machine, own
        gone = Trouble(f"the machine {words(machine_id)} of this job is gone")
        gone.status = 410
        raise gone

    async def _is_idle(self, machine: Machine) -> bool:
        if machine.status != _ACTIVE:
            return True
        try:
            said = await self._agent(machine).stats()
        except ProviderError:
            return False
        return count(said.get("running")) == 0 and count(said.get("backlog")) == 0

    async def _list(self) -> tuple[Machine, ...]:
        now = asyncio.get_running_loop().time()
        if now - self._listed_at >= _LIST_SECONDS * self.setup.scale:
            self._known = await self._machines.list()
            self._listed_at = now
        return self._known


def _none(machines: tuple[Machine, ...]) -> str:
    if not machines:
        return "there is no machine in the pool"
    return f"none of the {len(machines)} machines of the pool is active yet"
