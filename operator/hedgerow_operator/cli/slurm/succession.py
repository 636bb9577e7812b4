"""The batch jobs of one submission: what was before this one, what comes after it."""

import asyncio
import os
import time
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.cli.slurm.folder import Folder
from hedgerow_operator.cli.slurm.next_job import NextJob
from hedgerow_operator.cli.slurm.own_job import OwnJob, array_variables
from hedgerow_operator.cli.slurm.supervisor import Ended
from hedgerow_operator.core.slurm.chain import (
    FINAL,
    BatchRun,
    Chain,
    Decision,
    End,
    Turn,
    end_of_script,
    number_of,
    turn,
)
from hedgerow_operator.core.slurm.sbatch_plan import RESTARTS, SbatchPlan, comment_of
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.reconcile.ports import Unreachable

_LOOK_SECONDS = 1.0
# For a batch job that is still to be submitted when this one ends.
_SUBMIT_SECONDS, _CALL_OFF_SECONDS = 20.0, 5.0
# Of a batch job that another one goes on from: temporary failure, as in sysexits.h.
GOES_ON = 75


class Succession:
    """say: tells a person. before: the batch jobs that came before, as they ended."""

    def __init__(
        self, folder: Folder, own: OwnJob, plan: SbatchPlan, driver: Driver, say: Callable[[str], None]
    ) -> None:
        self._folder, self._own, self._plan, self._driver, self._say = folder, own, plan, driver, say
        self._next = NextJob(folder, own, plan, driver, say)
        self._chain = Chain()
        self._avoiding: tuple[str, ...] = ()
        self._submitting: asyncio.Task[None] | None = None
        self.before: dict[str, SlurmJob] = {}

    async def turn(self) -> Decision:
        """Once the batch job before has surely ended: whether this one goes on. Raises OSError."""
        self._chain = self._folder.chain()
        last, told = self._chain.newest, ""
        while True:
            try:
                seen = await self._seen(last) if last is not None else None
                decision = turn(self._chain, seen, time.time())
            except Unreachable as error:
                decision = Decision(Turn.WAIT, f"the batch job before this one cannot be asked for: {error}")
            if decision.turn is not Turn.WAIT:
                break
            if not told:
                self._say(f"nothing is started yet: {decision.why}")
            told = decision.why
            await asyncio.sleep(_LOOK_SECONDS)
        if last is not None and seen is not None:
            self.before[last.run] = seen
        if decision.turn is Turn.GO_ON and last is not None:
            again = number_of(last.run) == self._own.job_id and not last.why
            why = "Slurm has put it back, and runs it anew" if again else decision.why
            self._say(f"goes on after batch job {last.run}: {why}")
        return decision

    async def begin(self) -> None:
        """Write down that this one has begun, and submit the one that waits for its end. Raises OSError."""
        last, successor = self._chain.newest, self._chain.successor
        self._avoiding = last.excluded if last else ()
        again = last is not None and number_of(last.run) == self._own.job_id
        self._chain = self._chain.begun(self._own.job_id)
        if last is None:
            self._chain = replace(self._chain, variables=array_variables(os.environ))
        self._folder.write_chain(self._chain)
        if again and successor:
            self._told_successor(successor)
        elif self._plan.successor:
            self._submitting = asyncio.create_task(self._submit())

    @property
    def run(self) -> str:
        """Name of this run."""
        assert self._chain.newest is not None
        return self._chain.newest.run

    def variables(self) -> dict[str, str]:
        """What the script is told beside what Slurm tells it."""
        before = len(self._chain.runs) - 1
        return {RESTARTS: str(before), **self._chain.variables} if before else {}

    async def why_not_without(self, nodes: Iterable[str]) -> str:
        """Why the batch job that follows could not do without these nodes; "": it can."""
        if set(nodes) & set(self._avoiding) & set(self._own.nodes):
            return "this one was to avoid them already"
        return await self._next.why_not_without(self._chain.successor, nodes, time.time())

    def note_step(self) -> None:
        """A training did a step in this one."""
        self._chain = self._chain.told(stepped=True)
        self._folder.write_chain(self._chain)

    async def end(self, code: int, ended: Ended) -> int:
        """The script has ended with ``code``; the exit code of the batch job."""
        end, why = ended.end, ended.why
        if end is End.NOT_YET:
            own = await self._own_state() if code or ended.terminated else None
            end = end_of_script(code, ended.terminated, own, time.time())
        if end in FINAL and code:
            why = why or f"the script ended with exit code {code}"
        self._chain = self._chain.told(end=end, why=why, exit_code=code, excluded=ended.excluded)
        self._folder.write_chain(self._chain)
        await self._end_submitting(_CALL_OFF_SECONDS if end in FINAL else _SUBMIT_SECONDS)
        if end in FINAL:
            await self._next.call_off(self._chain.successor)
            return code
        if end is not End.NOT_YET:
            await self._next.keep_off(self._chain.successor, ended.excluded)
            return GOES_ON
        return code

    async def stop(self) -> None:
        """Nothing of it goes on, whatever the supervisor ends with: asyncio waits for ever for a command whose start
        is cut short as a loop closes.
        """
        await self._end_submitting(_CALL_OFF_SECONDS)

    async def _submit(self) -> None:
        job_id = await self._next.submit(self._avoiding)
        self._told_successor(job_id)

    async def _end_submitting(self, seconds: float) -> None:
        """What has not been submitted after so many more seconds is not submitted any more."""
        if self._submitting is not None:
            await asyncio.wait({self._submitting}, timeout=seconds)
            self._submitting.cancel()
            await asyncio.wait({self._submitting})

    def _told_successor(self, job_id: str) -> None:
        self._chain = replace(self._chain, successor=job_id)
        self._folder.write_chain(self._chain)

    async def _seen(self, last: BatchRun) -> SlurmJob | None:
        """Its batch job. What Slurm has requeued is this one, and has ended before it began again."""
        number = number_of(last.run)
        if number == self._own.job_id:
            return SlurmJob(id=number, state="PREEMPTED")
        seen = await self._driver.job(number)
        comment = comment_of(self._folder.path.name)
        ours = seen is None or f"--comment={comment}" not in self._plan.added or seen.comment == comment
        return seen if ours else None

    async def _own_state(self) -> SlurmJob | None:
        try:
            return await self._driver.job(self._own.job_id)
        except Unreachable:
            return None
