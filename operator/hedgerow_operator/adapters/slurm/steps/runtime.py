"""Placements as steps of this batch job; those of the batch job before it, until nothing of them can be alive."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
from msgspec import Struct

from hedgerow.wire import Report
from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.observe import Run, is_gone, placement_seen
from hedgerow_operator.adapters.slurm.steps.commands import StepCommands
from hedgerow_operator.adapters.slurm.steps.desk import Call
from hedgerow_operator.adapters.slurm.steps.records import StepRecord, StepRecords
from hedgerow_operator.adapters.slurm.steps.seen import StepSeen, step_placement
from hedgerow_operator.api import reasons
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.seen import WORKER_FAILED, PlacementSeen
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.states import means
from hedgerow_operator.reconcile.ports import JobKey, Unreachable

# What launchers need beyond the ranks' grace to end by themselves.
_LAUNCHER_SECONDS = 10.0
# What was asked to end is looked at so often.
_LOOK_SECONDS = 0.5
_NODES_SECONDS = 2.0


class Allocation(Struct, frozen=True):
    """This batch job. run: this run of it alone, where Slurm has requeued it."""

    job_id: str
    run: str
    nodes: tuple[str, ...]


class StepRuntime:
    """See reconcile.ports.Runtime.

    variables: what an srun is started with, of the job and the placement. before: earlier batch jobs as they ended, by
    run. why_over: why the batch job is over for Slurm, "" while it is not; raises Unreachable. hand_over: asks that
    the next batch job goes on without these nodes; False: there is none. on_change: something of a job may look
    different now.
    """

    fences_by_time = True

    def __init__(
        self,
        paths: StatePaths,
        allocation: Allocation,
        commands: StepCommands,
        view: ClusterView,
        variables: Callable[[JobKey, str, int], Mapping[str, str]],
        before: Mapping[str, SlurmJob],
        why_over: Callable[[], Awaitable[str]],
        hand_over: Callable[[JobKey, Sequence[str]], Awaitable[bool]],
        on_change: Callable[[JobKey], None],
        clock: Callable[[], float],
    ) -> None:
        self._allocation = allocation
        self._commands = commands
        self._view = view
        self._variables = variables
        self._before = before
        self._why_over = why_over
        self._hand_over = hand_over
        self._on_change = on_change
        self._clock = clock
        self._records = StepRecords(paths)
        self._calls: dict[JobKey, Call] = {}
        self._waiting: dict[JobKey, tuple[int, tuple[str, ...]]] = {}
        self._forced: dict[tuple[str, int], set[str]] = {}
        # Set once nothing may begin any more: why, and, where placements have to end in order, as what.
        self.closing = self.cause = ""

    def begin(self, key: JobKey, call: Call) -> None:
        """Start a call of srun that nothing is known of, as the first placement of a new job. Raises Unreachable."""
        self._calls[key] = call
        self._write(key, StepRecord(uid=call.uid, attempt=1, run=self._allocation.run, created=self._clock()))
        self._start(key, call, 1, ())

    def take(self, key: JobKey, call: Call) -> None:
        """The script has come to the srun of a job that goes on."""
        self._calls[key] = call
        wanted = self._waiting.pop(key, None)
        if wanted is not None:
            self._start(key, call, *wanted)

    def heard(self, key: JobKey, report: Report) -> None:
        """A launcher says where it runs. Raises Unreachable."""
        found = [entry for entry in self._records.of(key, report.job.uid) if entry.attempt == report.placement]
        for record in found:
            nodes = {**record.nodes, report.worker: report.node}
            steps = tuple(dict.fromkeys((*record.steps, *filter(None, [report.step]))))
            if (nodes, steps) != (record.nodes, record.steps):
                self._write(key, msgspec.structs.replace(record, nodes=nodes, steps=steps))

    def forget(self, key: JobKey, uid: str) -> None:
        """The srun of this job is over for good."""
        for record in self._records.of(key, uid):
            if record.run == self._allocation.run:
                self._records.drop(key, record.attempt)

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        """See Runtime. What was started before anything was decided is the first placement of the first decision."""
        if not job.status.placement:
            return ()
        seen = [await self._look(job, record) for record in self._records.of(key_of(job), job.metadata.uid)]
        return tuple(entry for entry in seen if entry is not None)

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        """See Runtime. With too few nodes left in this batch job, the next one goes on."""
        key, uid = key_of(job), job.metadata.uid
        if any(record.attempt == attempt for record in self._records.of(key, uid)):
            return
        if self.closing:
            raise Unreachable(self.closing)
        # An srun would fail again and again, or find another run of the same number.
        why = await self._why_over()
        if why:
            raise Unreachable(why)
        avoided = [node for node in self._allocation.nodes if node in excluded_nodes]
        if len(self._allocation.nodes) - len(avoided) < job.spec.workers:
            if await self._hand_over(key, excluded_nodes):
                raise Unreachable(f"the next batch job goes on without {', '.join(avoided)}")
            avoided = []
        options = (f"--exclude={','.join(avoided)}",) if avoided else ()
        self._write(key, StepRecord(uid=uid, attempt=attempt, run=self._allocation.run, created=self._clock()))
        call = self._calls.get(key)
        if call is None or call.gone:
            self._waiting[key] = attempt, options
        else:
            self._start(key, call, attempt, options)

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        """See Runtime."""
        key, uid = key_of(job), job.metadata.uid
        record = next((entry for entry in self._records.of(key, uid) if entry.attempt == attempt), None)
        if record is None:
            return
        self._forced.setdefault((uid, attempt), set()).update(force)
        if record.asked:
            return
        self._waiting.pop(key, None)
        self._write(key, msgspec.structs.replace(record, asked=True))
        call = self._current(key, record)
        if call is not None and call.runs:
            if record.steps:
                self._commands.signal_steps(record.steps, "TERM")
            else:
                call.send(signal.SIGTERM)
            patience = job.spec.recovery.grace_seconds + _LAUNCHER_SECONDS
            asyncio.get_running_loop().call_later(patience, self._kill, key, uid, attempt)
        self._look_again(key)

    async def _look(self, job: TrainingJob, record: StepRecord) -> PlacementSeen | None:
        """One placement; None, and its record deleted, once it was asked to go and nothing of it can be alive."""
        own = record.run == self._allocation.run
        seen = await (self._own(job, record) if own else self._former(job, record))
        if seen is None:
            self._records.drop(key_of(job), record.attempt)
            self._forced.pop((record.uid, record.attempt), None)
        elif record.asked:
            self._look_again(key_of(job))
        return seen

    async def _own(self, job: TrainingJob, record: StepRecord) -> PlacementSeen | None:
        key = key_of(job)
        call = self._current(key, record)
        if self._waiting.get(key, (0,))[0] == record.attempt:
            step = StepSeen(record=record, runs=False)
        elif call is not None and call.runs:
            step = StepSeen(record=record, runs=True)
        else:
            alive = bool(record.steps) and not (await self._commands.live_steps()).isdisjoint(record.steps)
            if not alive and record.asked:
                return None
            code = 1 if call is None or call.code is None else call.code
            step = StepSeen(record=record, runs=alive, code=code)
        if self.cause:
            step = msgspec.structs.replace(step, cause=self.cause, why=self.closing)
        return step_placement(step, self._allocation.job_id, job.spec.workers, self._clock())

    async def _former(self, job: TrainingJob, record: StepRecord) -> PlacementSeen | None:
        now = self._clock()
        known = self._before.get(record.run) or SlurmJob(id=record.run, state="FAILED")
        nodes = tuple(record.nodes.get(worker, "") for worker in range(job.spec.workers))
        ended = msgspec.structs.replace(known, nodes=nodes)
        forced = frozenset(self._forced.get((record.uid, record.attempt), ()))
        run = Run(attempt=record.attempt, job=ended, meaning=means(ended, now), asked=record.asked, forced=forced)
        facts = {name: (await self._view.nodes(_NODES_SECONDS)).of(name) for name in nodes if name}
        if record.asked and is_gone(run, facts, job.spec.workers):
            return None
        seen = placement_seen(run, facts, job.spec.workers, now)
        # Whatever ended the batch job: a script that had not come to a step is begun anew, as by Slurm itself.
        begun_anew = seen.ended == WORKER_FAILED and job.status.step is None
        return msgspec.structs.replace(seen, cause=reasons.REQUEUED) if begun_anew else seen

    def _current(self, key: JobKey, record: StepRecord) -> Call | None:
        call = self._calls.get(key)
        return call if call is not None and call.placement == record.attempt else None

    def _start(self, key: JobKey, call: Call, attempt: int, options: Sequence[str]) -> None:
        call.start(attempt, self._variables(key, call.uid, attempt), options)

    def _kill(self, key: JobKey, uid: str, attempt: int) -> None:
        """What still runs was told long enough."""
        for record in self._records.of(key, uid):
            call = self._current(key, record)
            if record.attempt == attempt and call is not None and call.runs:
                call.send(signal.SIGKILL)
                self._commands.signal_steps(record.steps, "KILL")

    def _write(self, key: JobKey, record: StepRecord) -> None:
        self._records.write(key, record)

    def _look_again(self, key: JobKey) -> None:
        asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._on_change, key)
