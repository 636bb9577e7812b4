"""One pass over one TrainingJob: observe, decide, act, write the status once, answer launchers, tell people."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from time import monotonic
from typing import Any

import msgspec

from hedgerow.wire import Report
from hedgerow_operator.api.labels import ANNOTATION_LEARNED_DURATIONS, ANNOTATION_LEARNED_PACE
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.decide import decide, refused, too_tight
from hedgerow_operator.core.nodes.on_gpus import RanksOnGPUs
from hedgerow_operator.core.plan import Action, CreatePlacement, Plan, RemovePlacement
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_SUCCEEDED, PlacementSeen, Seen
from hedgerow_operator.core.summary import worth_writing_now
from hedgerow_operator.core.watching.communication import Communication, communication
from hedgerow_operator.core.watching.job_watch import JobWatch
from hedgerow_operator.reconcile.ports import (
    Conflict,
    Farewell,
    JobKey,
    Jobs,
    Leadership,
    Machines,
    Metrics,
    Refused,
    Runtime,
    Signals,
    TooTight,
    Unreachable,
)
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.reconcile.stage_clock import StageClock

# A job's figures are written at most this often; what matters is written at once.
FIGURES_SECONDS = 10.0
# After a failed call to the outside world, and after somebody else changed the object.
RETRY_SECONDS = 2.0
CONFLICT_SECONDS = 0.05


def connect(hub: ReportHub, engine: "Reconciler", queue: WorkQueue) -> None:
    """From now on, a report that deserves it brings its job to the front of the queue."""

    def look(uid: str, seconds: float) -> None:
        key = engine.key_of(uid)
        if key is not None:
            queue.add(key, seconds)

    hub.on_report = look
    hub.on_heard = engine.hear


class Reconciler:
    """Level-triggered: every pass starts from what is stored and what is seen, never from what was meant."""

    def __init__(
        self,
        jobs: Jobs,
        runtime_for: Callable[[TrainingJob], Runtime],
        hub: ReportHub,
        leadership: Leadership,
        clock: Callable[[], float],
        metrics: Metrics,
        stopwatch: Callable[[], float] = monotonic,
        machines: Machines | None = None,
        signals: Signals | None = None,
        farewell: Farewell | None = None,
    ) -> None:
        self._jobs = jobs
        self._runtime_for = runtime_for
        self._hub = hub
        self._leadership = leadership
        self._clock = clock
        self._metrics = metrics
        self._stopwatch = stopwatch
        self._machines = machines
        self._signals = signals
        self._farewell = farewell
        self._uids: dict[JobKey, str] = {}
        self._keys: dict[str, JobKey] = {}  # the reverse
        self._states: dict[JobKey, str] = {}
        self._unusual: dict[JobKey, frozenset[str]] = {}
        self._written: dict[JobKey, float] = {}
        self._watches: dict[str, JobWatch] = {}
        self._stages = StageClock()
        self._on_gpus: dict[str, RanksOnGPUs] = {}
        # Called at the end of each pass with the job as it was decided, written or not.
        self.on_decided: Callable[[TrainingJob], None] = lambda job: None
        # Called with why a pass came to nothing, which is tried again.
        self.on_unreachable: Callable[[JobKey, str], None] = lambda key, why: None

    def key_of(self, uid: str) -> JobKey | None:
        """The key of the job with this uid, as far as it was seen here."""
        return self._keys.get(uid)

    def hear(self, report: Report) -> bool:
        """A report has come; True when it makes something unusual, or usual again."""
        watch = self._watches.get(report.job.uid)
        return watch is not None and watch.take(report, self._clock())

    def communication(self) -> Iterator[tuple[str, str, Communication]]:
        """Namespace, name and figures of every job whose ranks tell of their communication now."""
        for key, uid in self._uids.items():
            figures = communication((heard.report, heard.age) for heard in self._hub.heard(uid))
            if figures != Communication():
                yield key.namespace, key.name, figures

    async def reconcile(self, key: JobKey) -> float | None:
        """One pass; returns in how many seconds to look again, None when only a change can matter."""
        start, result = self._stopwatch(), "ok"
        try:
            return await self._pass(key)
        except Conflict:
            result = "conflict"
            return CONFLICT_SECONDS
        except Unreachable as error:
            result = "unreachable"
            self.on_unreachable(key, str(error))
            return RETRY_SECONDS
        except Exception:
            result = "error"
            raise
        finally:
            self._metrics.reconciled(result, self._stopwatch() - start)

    async def _pass(self, key: JobKey) -> float | None:
        if not self._leadership.holds():
            return RETRY_SECONDS
        job = await self._jobs.get(key)
        if job is None or self._uids.get(key, job.metadata.uid) != job.metadata.uid:
            self._forget(key)
        if job is None:
            return None
        if job.metadata.deletion_timestamp is not None:
            return None if self._farewell is None or await self._farewell.leave(job) else RETRY_SECONDS
        self._uids[key], self._keys[job.metadata.uid] = job.metadata.uid, key
        self._watches.setdefault(job.metadata.uid, JobWatch()).follow(job)
        runtime = self._runtime_for(job)
        seen = Seen(placements=None)
        try:
            seen = await self._see(job, runtime)
            plan = decide(job, seen, self._clock())
            self._hub.publish(job.metadata.uid, plan.orders)
            await self._act(job, runtime, plan)
        except TooTight as error:
            plan = too_tight(job, msgspec.structs.replace(seen, too_tight=str(error)), self._clock())
        except Refused as error:
            # What can never be created ends the job, instead of being tried for ever.
            plan = refused(job, str(error), self._clock())
        return await self._write(key, job, plan)

    async def _see(self, job: TrainingJob, runtime: Runtime) -> Seen:
        signals: Mapping[str, str] = {}
        blind = ""
        placements: tuple[PlacementSeen, ...] | None
        try:
            placements = await runtime.placements(job)
            if self._signals is not None and job.spec.health.node_signals:
                signals = await self._signals.against(job.spec.health.node_signals)
        except Unreachable as error:
            placements, blind = None, str(error)
        for placement in placements or ():
            for worker in placement.workers:
                if worker.phase in (WORKER_SUCCEEDED, WORKER_FAILED):
                    self._hub.note_over(job.metadata.uid, placement.attempt, worker.index)
        return Seen(
            placements=placements,
            heard=self._hub.heard(job.metadata.uid),
            listening_seconds=self._hub.listening_seconds(job.metadata.uid),
            signs=self._watches[job.metadata.uid].signs(self._clock()),
            stage_seconds=self._stages.seconds(job.metadata.uid, job.status, self._stopwatch()),
            fences_by_time=runtime.fences_by_time,
            blind=blind,
            signals=signals,
            **self._look_at_machines(job, placements or ()),
        )

    def _look_at_machines(self, job: TrainingJob, placements: Iterable[PlacementSeen]) -> dict[str, Any]:
        """What the agents say of the nodes that the job is on, and which nodes new attempts avoid."""
        if self._machines is None or job.spec.local:
            return {}
        uid = job.metadata.uid
        nodes = {worker.node for placement in placements for worker in placement.workers if worker.node}
        ranks = self._on_gpus.setdefault(uid, RanksOnGPUs())
        if agents := self._machines.reports(nodes):
            ranks.read(uid, agents, [heard.report for heard in self._hub.heard(uid)])
        return {
            "sick": self._machines.sick(nodes),
            "quarantined": self._machines.quarantined(),
            "places": ranks.places,
            "quiet": ranks.quiet,
        }

    async def _act(self, job: TrainingJob, runtime: Runtime, plan: Plan) -> None:
        for action in plan.actions:
            if not self._leadership.holds():
                raise Unreachable("this operator does not lead any more")
            await self._carry_out(job, runtime, action)

    async def _carry_out(self, job: TrainingJob, runtime: Runtime, action: Action) -> None:
        if isinstance(action, CreatePlacement):
            self._hub.forget_placement(job.metadata.uid, action.attempt)
            await runtime.create(job, action.attempt, action.excluded_nodes)
        elif isinstance(action, RemovePlacement):
            await runtime.remove(job, action.attempt, action.force)
        else:
            await self._jobs.delete(job)

    async def _write(self, key: JobKey, job: TrainingJob, plan: Plan) -> float | None:
        now = self._stopwatch()
        moved = job.status.attempt_stage != plan.status.attempt_stage or job.status.attempt != plan.status.attempt
        changed = plan.status != job.status
        urgent = changed and (bool(plan.events) or worth_writing_now(job.status, plan.status))
        if not self._leadership.holds():
            raise Unreachable("this operator does not lead any more")
        if plan.learned is not None:
            job = await self._jobs.annotate(job, ANNOTATION_LEARNED_DURATIONS, plan.learned)
        if plan.pace is not None:
            job = await self._jobs.annotate(job, ANNOTATION_LEARNED_PACE, plan.pace)
        # Counted from the first look: an operator that has just started does not write every job's figures at once.
        written = self._written.setdefault(key, now)
        if urgent or (changed and now - written >= FIGURES_SECONDS):
            old = job.status
            job = await self._jobs.write_status(job, plan.status)
            self._written[key] = now
            self._count(key, old.restarts, old.incident is None, plan)
            for event in plan.events:
                await self._jobs.record(job, event)
        self._note_state(key, plan.status)
        self.on_decided(msgspec.structs.replace(job, status=plan.status))
        if moved or plan.actions:
            return 0.0 if moved else min(1.0, plan.requeue_after or 1.0)
        return plan.requeue_after

    def _count(self, key: JobKey, restarts: int, was_calm: bool, plan: Plan) -> None:
        status = plan.status
        if was_calm and status.incident is not None:
            self._metrics.incident_opened(status.incident.kind)
        if status.restarts > restarts and status.history:
            self._metrics.restarted(status.history[-1].reason)

    def _note_state(self, key: JobKey, status: TrainingJobStatus) -> None:
        """Counted whether or not it is written: an operator that has just started knows of no write."""
        unusual = frozenset(entry.reason for entry in status.degradations)
        if (self._states.get(key), self._unusual.get(key)) != (status.state, unusual):
            self._states[key], self._unusual[key] = status.state, unusual
            self._tell_counts()

    def _tell_counts(self) -> None:
        self._metrics.jobs_by_state(Counter(self._states.values()))
        self._metrics.degraded_jobs(Counter(chain.from_iterable(self._unusual.values())))

    def _forget(self, key: JobKey) -> None:
        uid = self._uids.pop(key, None)
        if uid is not None:
            self._keys.pop(uid, None)
            self._hub.forget(uid)
            self._watches.pop(uid, None)
            self._stages.forget(uid)
            self._on_gpus.pop(uid, None)
        self._written.pop(key, None)
        self._unusual.pop(key, None)
        if self._states.pop(key, None) is not None:
            self._tell_counts()
