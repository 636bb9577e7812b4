"""The batch jobs of one submission: what was before this one, what comes after it."""

import asyncio
import os
import time
from collections.abc import Callable, Iterable

from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.steps.commands import StepCommands
from hedgerow_operator.cli.slurm.folder import Folder
from hedgerow_operator.cli.slurm.own_job import OwnJob, for_submission
from hedgerow_operator.cli.slurm.submission import PYTHON
from hedgerow_operator.cli.slurm.supervisor import Ended
from hedgerow_operator.core.slurm.chain import FINAL, Chain, Decision, End, Turn, end_of_script, turn
from hedgerow_operator.core.slurm.hostlist import expand
from hedgerow_operator.core.slurm.sbatch_options import parse
from hedgerow_operator.core.slurm.sbatch_plan import SbatchPlan, given, successor_flags, wrapper
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.reconcile.ports import Unreachable

_LOOK_SECONDS = 1.0
_UNREACHABLE_SECONDS = 5.0
# As scripts know it from Slurm's own requeue.
_RESTART_COUNT = "SLURM_RESTART_COUNT"
# Of a batch job that another one goes on from: temporary failure, as in sysexits.h.
GOES_ON = 75


class Succession:
    """say: tells a person. before: the batch jobs that came before, as they ended."""

    def __init__(
        self, folder: Folder, own: OwnJob, plan: SbatchPlan, driver: Driver, say: Callable[[str], None]
    ) -> None:
        self._folder, self._own, self._plan, self._driver, self._say = folder, own, plan, driver, say
        self._commands = StepCommands(own.job_id)
        self._flags = parse(plan.flags).flags
        self._chain = Chain()
        self.before: dict[str, SlurmJob] = {}

    async def turn(self) -> Decision:
        """Once the batch job before has surely ended: whether this one goes on. Raises OSError."""
        self._chain = self._folder.chain()
        told = False
        while True:
            try:
                last = self._chain.newest
                seen = await self._driver.job(last.job_id) if last is not None else None
            except Unreachable as error:
                if not told:
                    self._say(f"the batch job before this one cannot be asked for, so that nothing starts yet: {error}")
                told = True
                await asyncio.sleep(_UNREACHABLE_SECONDS)
                continue
            decision = turn(self._chain, seen, time.time())
            if decision.turn is not Turn.WAIT:
                if last is not None and seen is not None:
                    self.before[last.job_id] = seen
                if decision.turn is Turn.GO_ON and last is not None:
                    self._say(f"goes on after batch job {last.job_id}: {decision.why}")
                return decision
            if not told:
                self._say(f"waits: {decision.why}")
            told = True
            await asyncio.sleep(_LOOK_SECONDS)

    async def begin(self) -> None:
        """Write down that this one has begun, and submit the one that waits for its end. Raises OSError."""
        excluded = self._chain.newest.excluded if self._chain.newest else ()
        self._chain = self._chain.begun(self._own.job_id)
        self._folder.write_chain(self._chain)
        if self._plan.successor:
            await self._submit(excluded)

    def variables(self) -> dict[str, str]:
        """What the script is told beside what Slurm tells it."""
        before = len(self._chain.runs) - 1
        return {_RESTART_COUNT: str(before)} if before else {}

    def may_follow(self) -> bool:
        """Whether another batch job waits for the end of this one."""
        return bool(self._chain.successor)

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
        if end in FINAL:
            await self._call_off()
            return code
        if end is not End.NOT_YET:
            await self._exclude(ended.excluded)
            return GOES_ON
        return code

    async def _submit(self, excluded: Iterable[str]) -> None:
        script = self._folder.text()
        text = wrapper(script, PYTHON, str(self._folder.path), header=False)
        path = self._folder.write_submitted("next", self._plan.name, text)
        words = successor_flags(self._plan, self._flags, script, self._own.job_id, self._own.task)
        avoided = self._avoided(excluded)
        words += [f"--exclude={','.join(avoided)}"] if avoided else []
        environment = for_submission(os.environ, self._plan.variables)
        try:
            job_id, why = await self._commands.submit([*words, str(path), *self._plan.arguments], environment)
        except Unreachable as error:
            job_id, why = "", str(error)
        if not job_id:
            self._say(f"no batch job could be submitted that goes on after this one: {why}")
            return
        self._chain = Chain(runs=self._chain.runs, successor=job_id)
        self._folder.write_chain(self._chain)

    def _avoided(self, nodes: Iterable[str]) -> list[str]:
        """Those that the user excludes, and these."""
        try:
            own = expand(given("exclude", self._flags, self._folder.text(), self._plan.variables) or "")
        except ValueError:  # a file of names
            own = ()
        more = [node for node in nodes if node not in own]
        return [*own, *more] if more else []

    async def _exclude(self, nodes: Iterable[str]) -> None:
        avoided = self._avoided(nodes)
        if not avoided or not self._chain.successor:
            return
        try:
            why = await self._commands.exclude(self._chain.successor, avoided)
        except Unreachable as error:
            why = str(error)
        if why:
            self._say(f"batch job {self._chain.successor} could not be kept off {', '.join(avoided)}: {why}")

    async def _call_off(self) -> None:
        if self._chain.successor:
            try:
                await self._driver.cancel(self._chain.successor)
            except Unreachable as error:
                self._say(f"batch job {self._chain.successor} waits still, and ends at once when it begins: {error}")

    async def _own_state(self) -> SlurmJob | None:
        try:
            return await self._driver.job(self._own.job_id)
        except Unreachable:
            return None
