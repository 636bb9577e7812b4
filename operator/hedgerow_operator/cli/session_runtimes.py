"""Where the jobs of a local run have their ranks: on this machine, or on Slurm by this machine's commands."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from time import time

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.runtime import LocalRuntime
from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.local_files import LocalFiles
from hedgerow_operator.adapters.slurm.runtime import SlurmRuntime
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.reconcile.ports import JobKey, Runtime, Unreachable


class SessionRuntimes:
    """Every runtime of one run. on_change: a job may look different."""

    def __init__(self, paths: StatePaths, on_change: Callable[[JobKey], None]) -> None:
        self._local = LocalRuntime(paths, time, on_change)
        self._paths, self._on_change = paths, on_change
        self._looking: asyncio.Task[None] | None = None

    def of(self, job: TrainingJob) -> Runtime:
        """The one where this job runs."""
        return self._slurm.runtime if job.spec.slurm is not None else self._local

    @cached_property
    def _slurm(self) -> "_Slurm":
        # Only here: whoever has no such job needs none of it.
        from hedgerow_operator.adapters.slurm.cli.driver import CliDriver

        return _Slurm(CliDriver(), self._paths, self._on_change)

    async def slurm_nodes(self) -> Iterable[str]:
        """The names of the nodes of this machine's Slurm. Raises Unreachable."""
        return (await self._slurm.view.nodes()).nodes

    def check(self, job: TrainingJob) -> None:
        """Raises StateError for a job that cannot be run beside what is there."""
        self._local.check(job)

    async def begin(self, jobs: Sequence[TrainingJob]) -> None:
        """Look at Slurm from now on, where some job is there. Raises StateError when it can never be."""
        if any(job.spec.slurm is not None for job in jobs):
            try:
                await self._slurm.driver.version()
            except Unreachable as error:
                raise StateError(str(error)) from None
            self._looking = asyncio.create_task(self._slurm.view.run())

    def restore(self, jobs: Iterable[TrainingJob]) -> bool:
        """See LocalRuntime.restore."""
        return self._local.restore(jobs)

    async def kill(self, job: TrainingJob) -> list[str]:
        """End everything of the job at once; what would not go: processes, or jobs of Slurm."""
        if job.spec.slurm is None:
            return [str(pid) for pid in await self._local.kill(job)]
        try:
            return [f"Slurm job {number}" for number in await self._slurm.runtime.kill(job)]
        except Unreachable as error:
            return [f"its Slurm job ({error})"]

    async def close(self) -> None:
        """Let go of everything; ranks live on."""
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking
            await self._slurm.driver.close()
        self._local.close()


class _Slurm:
    """This machine's Slurm: its driver, what it shows, and the runtime over both."""

    def __init__(self, driver: Driver, paths: StatePaths, on_change: Callable[[JobKey], None]) -> None:
        self.driver = driver
        self.view = ClusterView(driver)
        self.runtime = SlurmRuntime(self.view, LocalFiles(paths), time, on_change)
