"""The batch job that waits for the end of this one."""

import asyncio
import os
from collections.abc import Callable, Iterable

from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.steps.commands import StepCommands
from hedgerow_operator.cli.slurm.folder import Folder
from hedgerow_operator.cli.slurm.own_job import OwnJob, for_submission
from hedgerow_operator.cli.slurm.submission import PYTHON
from hedgerow_operator.core.slurm.hostlist import expand
from hedgerow_operator.core.slurm.sbatch_options import parse
from hedgerow_operator.core.slurm.sbatch_plan import SbatchPlan, comment_of, given, successor_flags, wrapper
from hedgerow_operator.core.slurm.state_table import Kind
from hedgerow_operator.core.slurm.states import means
from hedgerow_operator.reconcile.ports import Unreachable

_AGAIN_SECONDS = 15.0


class NextJob:
    """say: tells a person."""

    def __init__(
        self, folder: Folder, own: OwnJob, plan: SbatchPlan, driver: Driver, say: Callable[[str], None]
    ) -> None:
        self._folder, self._own, self._plan, self._driver, self._say = folder, own, plan, driver, say
        self._commands = StepCommands(own.job_id)
        self._script = folder.text()
        self._flags = parse(plan.flags).flags
        self._unsure = False

    async def submit(self, excluded: Iterable[str]) -> str:
        """Its number, however long that takes; "" where there never will be one. Raises OSError."""
        while True:
            try:
                # One whose submission was cut short may be there all the same.
                found = await self._waiting() if self._unsure else []
                job_id, why = (found[0], "") if found else await self._submitted([], excluded)
                break
            except Unreachable as error:
                if not self._unsure:
                    self._say(f"the batch job that goes on after this one cannot be submitted yet: {error}")
                self._unsure = True
                await asyncio.sleep(_AGAIN_SECONDS)
        if not job_id:
            self._say(f"no batch job could be submitted that goes on after this one: {why}")
        return job_id

    async def why_not_without(self, job_id: str, nodes: Iterable[str], now: float) -> str:
        """Why it cannot do without these nodes; "": it can, as far as Slurm tells."""
        try:
            seen = await self._driver.job(job_id) if job_id else None
            if seen is None or means(seen, now).kind is Kind.ENDED:
                return "no batch job follows"
            return (await self._submitted(["--test-only"], nodes))[1]
        except Unreachable as error:
            return str(error)

    async def keep_off(self, job_id: str, nodes: Iterable[str]) -> None:
        """Let it avoid these nodes."""
        avoided = self._avoided(nodes)
        if not avoided or not job_id:
            return
        try:
            why = await self._commands.exclude(job_id, avoided)
        except Unreachable as error:
            why = str(error)
        if why:
            self._say(f"batch job {job_id} could not be kept off {', '.join(avoided)}: {why}")

    async def call_off(self, job_id: str) -> None:
        """It is not wanted any more."""
        try:
            more = await self._waiting() if self._unsure else []
            for number in dict.fromkeys([*filter(None, [job_id]), *more]):
                await self._driver.cancel(number)
        except Unreachable as error:
            self._say(f"the batch job that goes on waits still, and ends at once when it begins: {error}")

    async def _waiting(self) -> list[str]:
        """Batch jobs of this submission that wait to begin, as far as their comment tells. Raises Unreachable."""
        comment = comment_of(self._folder.path.name)
        if f"--comment={comment}" not in self._plan.added or self._own.task:
            return []
        jobs = await self._driver.jobs()
        return [job.id for job in jobs if job.comment == comment and job.state == "PENDING"]

    async def _submitted(self, more: list[str], excluded: Iterable[str]) -> tuple[str, str]:
        text = wrapper(self._script, PYTHON, str(self._folder.path), self._plan.own_signal, header=False)
        path = self._folder.write_submitted("next", self._plan.name, text)
        words = successor_flags(self._plan, self._flags, self._script, self._own.job_id, self._own.task)
        avoided = self._avoided(excluded)
        words += [f"--exclude={','.join(avoided)}"] if avoided else []
        environment = for_submission(os.environ, self._plan.variables)
        return await self._commands.submit([*words, *more, str(path), *self._plan.arguments], environment)

    def _avoided(self, nodes: Iterable[str]) -> list[str]:
        """Those that the user excludes, and these."""
        try:
            own = expand(given("exclude", self._flags, self._script, self._plan.variables) or "")
        except ValueError:  # a file of names
            own = ()
        more = [node for node in nodes if node not in own]
        return [*own, *more] if more else []
