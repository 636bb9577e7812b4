"""One simulated attempt: what happens is settled when it is taken, and shown when its time comes."""

import asyncio
import math
from collections.abc import AsyncIterator

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Answer, Call, ProviderError, Update
from hedgerow_operator.adapters.providers.ending import Ending
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.simulated.answers import answer, streamed
from hedgerow_operator.adapters.providers.simulated.script import Fault, Script
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt, Scope
from hedgerow_operator.core.hedging.seen import AttemptState
from hedgerow_operator.replay.hedging.rounds import Course


class SimulatedAttempt:
    """See Attempt. course: as quick as time is here."""

    def __init__(self, setup: Setup, script: Script, call: Call, number: int, course: Course) -> None:
        self.job_id = f"{setup.name}-{number}"
        self._setup, self._script, self._call, self._course = setup, script, call, course
        self._faults = script.faults_of(number)
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._number = number
        self._stopped = asyncio.Event()
        self._receipt: Receipt | None = None

    @property
    def waits(self) -> bool:
        """No worker has begun with it."""
        return self._age < (self._course.queue_seconds or 0.0) and not self._stopped.is_set()

    @property
    def over(self) -> bool:
        """Nothing runs any more."""
        return self._stopped.is_set() or self._age >= self._ends

    async def updates(self) -> AsyncIterator[Update]:
        """See Attempt."""
        script = self._script
        yield Update(state=AttemptState.QUEUED if script.shows_queue else AttemptState.UNKNOWN)
        if self._course.queue_seconds is not None:
            if await self._sleep(self._course.queue_seconds):
                yield _ended("it was cancelled in the queue")
                return
            if script.shows_queue or script.shows_start:
                yield Update(state=AttemptState.RUNNING)
        if await self._sleep(self._ends):
            yield _ended("it was cancelled")
        elif Fault.DIE in self._faults:
            yield _ended("its worker died")
        else:
            yield Update(state=AttemptState.VALID, answer=self._answer())

    async def cancel(self) -> Receipt:
        """See Attempt."""
        if self._receipt is not None and not self._receipt.leaked:
            return self._receipt
        self._receipt = await self._cancelled()
        return self._receipt

    async def _cancelled(self) -> Receipt:
        free = self._script.free_in_queue
        ending = Ending(self._setup, self.job_id, free_in_queue=free, was_running=not self.waits)
        if not self.over and Fault.CANCEL_LOST in self._faults:
            await self._scaled(self._script.cancel_seconds)
            return replace(ending.receipt(self._ran), note="the cancel was not answered")
        if not self.over and Fault.CANCEL_IGNORED in self._faults:
            await self._scaled(self._script.cancel_seconds)
            note = "it took the cancel, and still runs"
            return replace(ending.receipt(self._ran), evidence=Evidence.ACKNOWLEDGED, acknowledged_after=0.0, note=note)
        status = "COMPLETED" if self.over else "CANCELLED"
        if not self.over:
            await self._scaled(self._script.cancel_seconds)
            self._stopped.set()
        return replace(
            ending.receipt(self._ran),
            evidence=Evidence.TERMINAL,
            scope=Scope.REQUEST if ending.was_running else Scope.QUEUED_JOB,
            acknowledged_after=0.0,
            terminal_after=ending.passed,
            terminal_status=status,
            leaked=False,
        )

    @property
    def _age(self) -> float:
        return self._loop.time() - self._began

    @property
    def _ran(self) -> float:
        return max(0.0, min(self._age, self._ends) - (self._course.queue_seconds or 0.0))

    @property
    def _ends(self) -> float:
        if Fault.HANG in self._faults:
            return math.inf
        if Fault.DIE in self._faults:
            queue = self._course.queue_seconds or 0.0
            return queue + (min(self._course.answer_seconds, queue + 100.0 / self._script.time_scale) - queue) / 2
        return self._course.answer_seconds

    async def _sleep(self, until: float) -> bool:
        """Until so much of the course is over; whether it was stopped before."""
        left = until - self._age
        try:
            async with asyncio.timeout(None if math.isinf(left) else max(0.0, left)):
                await self._stopped.wait()
        except TimeoutError:
            return self._stopped.is_set()
        return True

    async def _scaled(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._script.time_scale)

    def _answer(self) -> Answer:
        lies = Fault.LIE in self._faults or not self._course.valid
        output = None if lies else self._script.output
        if output is None and not lies:
            output = {"provider": self._setup.name, "attempt": self._number}
        if self._call.stream and not lies:
            pause = 0.05 / self._script.time_scale
            return streamed(output, pause, stall=Fault.STALL in self._faults, cut=Fault.CUT in self._faults)
        return answer(self._call, output, self._course)


def _ended(why: str) -> Update:
    return Update(state=AttemptState.FAILED, error=ProviderError(why))
