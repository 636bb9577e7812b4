"""Batch jobs that are requeued: one job of Slurm carries placement after placement, each as a run of its own.

A run trains only as the attempt that is written down for it; until then its batch script waits. So a run that begins
too early, or that somebody else asked for, does nothing, and a controller that was killed at whatever moment goes on
from what is written and what Slurm shows.
"""

from collections.abc import Callable, Iterable

import msgspec

from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.submissions import Submissions
from hedgerow_operator.api.slurm_spec import REQUEUE
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.ladder import NEW_PLACEMENT
from hedgerow_operator.core.slurm.room import too_few
from hedgerow_operator.core.slurm.runs import Entry
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_table import Kind
from hedgerow_operator.core.slurm.states import means
from hedgerow_operator.core.step import ENDED, SUSPENDED
from hedgerow_operator.reconcile.ports import Refused, TooTight, Unreachable

_WAITS = (Kind.WAITING, Kind.HELD)
_RUNS = (Kind.STARTING, Kind.ALIVE)


class Requeues:
    """clock: wall time."""

    def __init__(self, view: ClusterView, submissions: Submissions, clock: Callable[[], float]) -> None:
        self._view = view
        self._submissions = submissions
        self._clock = clock

    def waits(self, entry: Entry) -> bool:
        """Whether its run has not begun."""
        return entry.again and self._kind(entry) in _WAITS

    async def end_run(self, job: TrainingJob, entry: Entry) -> None:
        """Its run ends, and the batch job waits for the next one, without the nodes that are excluded."""
        if entry.put_back or self.waits(entry):
            return
        excluded = await self._view.known_nodes(node.name for node in job.status.excluded_nodes)
        tight = await self._too_tight(job, entry.job, excluded)
        await self._put_back(entry.job, () if tight else excluded)

    async def begin_run(
        self, job: TrainingJob, attempt: int, excluded: Iterable[str], entries: Iterable[Entry], removed: str | None
    ) -> bool:
        """Whether a batch job is this placement, from its next run on or already. removed: the number of one that was,
        and that has been removed. Raises Unreachable while it cannot be, TooTight.
        """
        names = await self._view.known_nodes(excluded)
        for entry in entries:
            over = self._kind(entry) is Kind.ENDED
            begun = entry.attempt == attempt and not entry.put_back and entry.job.id != removed
            if not (over or begun or requeues(job)):
                await self._cancel(job, entry)
                raise Unreachable(f"Slurm job {entry.job.id}, which waited to be run again, has not ended")
            if over and (not requeues(job) or entry.job.state == "CANCELLED"):
                continue
            if begun:
                if self.waits(entry) and set(entry.job.excluded) != set(names):
                    await self._avoid(job, entry, names)
                return True
            run = await self._next_run(job, entry, names)
            await self._submissions.add_run(job, entry.first, run, attempt)
            await self._tell(job, entry, run, attempt)
            return True
        return False

    async def look_after(self, job: TrainingJob, entries: Iterable[Entry]) -> None:
        """What a controller that died has lost is told again, and what waits for a job that is over is cancelled."""
        for entry in entries:
            kind = self._kind(entry)
            if not entry.again or kind in (Kind.ENDED, Kind.ENDING):
                continue
            if is_over(job) and (entry.put_back or kind in _WAITS):
                await self._cancel(job, entry)
            elif not entry.put_back and entry.job.restarts:
                await self._tell(job, entry, entry.job.restarts, entry.attempt)

    async def _next_run(self, job: TrainingJob, entry: Entry, names: tuple[str, ...]) -> int:
        """The number of the run that is to be the placement, which will avoid these nodes."""
        number = entry.job.id
        if self._kind(entry) is Kind.ENDED:
            await self._room(job, entry.job, names)
            await self._put_back(entry.job, names)
            return entry.job.restarts + 1
        if self.waits(entry):
            await self._avoid(job, entry, names)
            return entry.job.restarts
        if entry.put_back and self._kind(entry) in _RUNS:
            if not set(entry.job.nodes) & set(names):
                return entry.job.restarts
            await self._put_back(entry.job, names)
        raise Unreachable(f"the run of Slurm job {number} before this one has not ended")

    async def _put_back(self, shown: SlurmJob, excluded: tuple[str, ...]) -> None:
        try:
            await self._view.driver.requeue(shown.id, excluded)
        except Refused as error:
            if await self._stands_as(shown):
                raise
            raise Unreachable(str(error)) from error  # it has ended, gone, or been put back by somebody meanwhile
        finally:
            self._view.changed()

    async def _stands_as(self, shown: SlurmJob) -> bool:
        every = (await self._view.fresh_jobs()).jobs.values()
        look = (shown.id, shown.state, shown.flags, shown.restarts)
        return look in {(job.id, job.state, job.flags, job.restarts) for listed in every for _first, job in listed}

    async def _room(self, job: TrainingJob, shown: SlurmJob, names: tuple[str, ...]) -> None:
        if await self._too_tight(job, shown, names):
            raise TooTight(f"Slurm job {shown.id} needs {job.spec.workers} nodes, and so many are not left")

    async def _avoid(self, job: TrainingJob, entry: Entry, names: tuple[str, ...]) -> None:
        await self._room(job, entry.job, names)
        await self._change(entry, excluded=names)

    async def _tell(self, job: TrainingJob, entry: Entry, run: int, attempt: int) -> None:
        """Its batch script, where that reads it from the comment."""
        comment = self._submissions.comment(job, entry.first, run, attempt)
        if comment and comment != entry.job.comment:
            await self._change(entry, comment=comment)

    async def _change(self, entry: Entry, excluded: tuple[str, ...] | None = None, comment: str = "") -> None:
        try:
            await self._view.driver.change(entry.job.id, excluded, comment)
        except Refused as error:  # it has just begun, or ended
            raise Unreachable(str(error)) from error
        finally:
            self._view.changed()

    async def _cancel(self, job: TrainingJob, entry: Entry) -> None:
        await self._submissions.note_cancelled(job, entry.attempt, entry.job.id)
        await self._view.driver.cancel(entry.job.id)
        self._view.changed()

    async def _too_tight(self, job: TrainingJob, shown: SlurmJob, names: tuple[str, ...]) -> bool:
        nodes = (await self._view.nodes()).nodes.values() if names else ()
        return too_few(nodes, msgspec.structs.replace(shown, excluded=names), job.spec.workers)

    def _kind(self, entry: Entry) -> Kind:
        return means(entry.job, self._clock()).kind


def requeues(job: TrainingJob) -> bool:
    """Whether its next batch job may be requeued."""
    return job.spec.slurm is not None and job.spec.slurm.resubmit == REQUEUE


def goes_on(job: TrainingJob) -> bool:
    """Whether the batch job is to run once more after this: it must not come to an end then."""
    plan = job.status.stopping
    follows = plan is None or plan.action == NEW_PLACEMENT
    return requeues(job) and follows and not job.spec.suspend and not is_over(job)


def is_over(job: TrainingJob) -> bool:
    """Whether no attempt is wanted."""
    return job.status.attempt_stage in (ENDED, SUSPENDED) or job.metadata.deletion_timestamp is not None
