"""Looks after one batch job from within: runs the user's script, and what its sruns start as TrainingJobs."""

import asyncio
import contextlib
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hedgerow.slurm.srun_shim import STEPS
from hedgerow.slurm.step_runner import socket_name
from hedgerow.wire import Report
from hedgerow_operator.adapters.local.file_jobs import FileJobs, key_of
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.steps.commands import StepCommands
from hedgerow_operator.adapters.slurm.steps.desk import Call, Desk
from hedgerow_operator.adapters.slurm.steps.runtime import Allocation, StepRuntime
from hedgerow_operator.adapters.slurm.steps.variables import step_variables, token_file
from hedgerow_operator.api import reasons
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.outcome import is_finished, is_suspended
from hedgerow_operator.cli.phase import phase_of
from hedgerow_operator.cli.session import SoleLeader
from hedgerow_operator.cli.slurm.own_job import OwnJob
from hedgerow_operator.cli.slurm.serving import KeptFiles, serve
from hedgerow_operator.cli.slurm.step_hub import OneToken, StepHub
from hedgerow_operator.cli.slurm.step_jobs import StepJobs, parsed
from hedgerow_operator.cli.slurm.user_script import UserScript
from hedgerow_operator.cli.views.base import View
from hedgerow_operator.core.slurm.chain import End, why_over
from hedgerow_operator.core.slurm.sbatch_plan import SbatchPlan
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.step import PLACING
from hedgerow_operator.reconcile.engine import Reconciler
from hedgerow_operator.reconcile.ports import JobKey, Unreachable
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.server.app import make_app
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.metrics import Metrics

_TICK_SECONDS = 0.2
# Launchers in calm are heard this often: a batch job is one of thousands on its cluster, but has its own supervisor.
_REPORT_SECONDS = 5.0
# For what was told to end, beyond the ranks' grace.
_END_SECONDS = 30.0
# Between TERM and KILL for the script itself, once its sruns have ended.
_SCRIPT_SECONDS = 5.0
_LONGEST_FOLDER = 64
# What placements end as when the batch job ends in order. None of it counts as a restart.
_CAUSES = {End.TIME_LIMIT: reasons.TIME_LIMIT_REACHED, End.HANDED_OVER: reasons.REQUEUED}
_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class Ended:
    """How it came to an end. excluded: nodes that the next batch job has to avoid."""

    def __init__(self) -> None:
        self.end = End.NOT_YET
        self.why = ""
        self.excluded: tuple[str, ...] = ()
        self.terminated = False


class OtherBatchJobs(Protocol):
    """Those of the same submission. before: the ones that came before this one, as they ended, by run."""

    before: dict[str, SlurmJob]

    @property
    def run(self) -> str:
        """Name of this one's run."""

    async def why_not_without(self, nodes: Iterable[str]) -> str:
        """Why the one that follows could not do without these nodes; "": it can."""

    def note_step(self) -> None:
        """A training did a step in this one."""


class Supervisor:
    """Of one batch job; `ended` says how it came to its end."""

    def __init__(
        self,
        plan: SbatchPlan,
        own: OwnJob,
        paths: StatePaths,
        driver: Driver,
        view: View,
        others: OtherBatchJobs,
        on_begin: Callable[[], None],
    ) -> None:
        """on_begin: called when the script is about to begin."""
        self._plan, self._own, self._paths, self._view = plan, own, paths, view
        self._spec = parsed(plan.spec)
        self._driver = driver
        self._others, self._on_begin = others, on_begin
        self._jobs = FileJobs(paths, time.time, view.changed, view.happened)
        self.steps = StepJobs(paths, self._jobs, plan.spec)
        self._runtime = StepRuntime(
            paths=paths,
            allocation=Allocation(own.job_id, others.run, own.nodes),
            commands=StepCommands(own.job_id),
            view=ClusterView(driver),
            variables=lambda key, uid, attempt: step_variables(key, uid, attempt, self._spec, paths),
            before=others.before,
            why_over=self._why_over,
            hand_over=self._hand_over,
            on_change=self._look,
            clock=time.time,
        )
        self._hub = ReportHub(clock=time.monotonic, longest_interval=_REPORT_SECONDS)
        self._leader, self._metrics, self._health = SoleLeader(), Metrics(), Health(time.monotonic)
        self._engine = Reconciler(
            self._jobs, lambda job: self._runtime, self._hub, self._leader, time.time, self._metrics
        )
        self._queue = WorkQueue(self._health.watching(self._engine.reconcile), on_error=self._failed)
        self._script: UserScript | None = None
        self._stop = asyncio.Event()
        self._said: set[str] = set()
        self.ended = Ended()

    async def run(self, script: Path, arguments: Sequence[str], environment: Mapping[str, str], token: str) -> int:
        """The exit code of the script. What `ended` says is why it was ended, where it did not end by itself."""
        for job in self.steps.load():
            self._view.changed(job)
        self._hub.on_report, self._hub.on_heard = self._heard, self._engine.hear
        self._engine.on_decided, self._engine.on_unreachable = self._decided, self._delayed
        loop = asyncio.get_running_loop()
        for number in _PASSED_ON:
            loop.add_signal_handler(number, self._signalled, number)
        with tempfile.TemporaryDirectory(prefix="hedgerow-", dir=_short_folder()) as folder:
            name = socket_name(environment.get("SLURM_JOB_ID", ""))
            desk = Desk(Path(folder) / name, self._called, self._call_changed)
            async with self._working(desk, token):
                variables = {**environment, STEPS: str(desk.path)}
                self._script = UserScript(script, arguments, variables)
                self._on_begin()
                return await self._until_end(asyncio.create_task(self._script.run()))

    @contextlib.asynccontextmanager
    async def _working(self, desk: Desk, token: str) -> AsyncIterator[None]:
        working = asyncio.create_task(self._queue.run())
        self._look_at_all()
        hub = StepHub(self._hub, lambda uid: self.steps.key_of(uid) is not None, self._report)
        app = make_app(hub, OneToken(token), self._leader, self._metrics, self._health)
        runner = await serve(app, self._own.node, self._driver, self._paths)
        keeping = asyncio.create_task(KeptFiles(token_file(self._paths), self._paths.address).keep())
        await desk.open()
        self._health.synced = True
        try:
            yield
        finally:
            desk.close()
            for task in (working, keeping):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            self._paths.address.unlink(missing_ok=True)
            await runner.cleanup()
            self._view.close()

    async def _until_end(self, running: "asyncio.Task[int]") -> int:
        while not running.done() and not self._stop.is_set():
            await asyncio.wait({running}, timeout=_TICK_SECONDS)
            self._view.tick()
        if not running.done():
            await self._end_sruns(running)
            await self._end_script(running)
        return await running

    async def _end_sruns(self, running: "asyncio.Task[int]") -> None:
        """Let every rank save what it can, and see that nothing of them is left."""
        deadline = time.monotonic() + self._spec.recovery.grace_seconds + _END_SECONDS
        while time.monotonic() < deadline and not running.done():
            if all(is_over(job) for job in self._jobs.all()):
                return
            await asyncio.sleep(_TICK_SECONDS)
            self._view.tick()

    async def _end_script(self, running: "asyncio.Task[int]") -> None:
        assert self._script is not None
        for number, seconds in ((signal.SIGTERM, _SCRIPT_SECONDS), (signal.SIGKILL, _SCRIPT_SECONDS)):
            self._script.send_all(number)
            await asyncio.wait({running}, timeout=seconds)
            if running.done():
                self._script.send_all(signal.SIGKILL)
                return

    # Why it ends before the script does.

    def _end(self, end: End, why: str, excluded: Sequence[str] = ()) -> None:
        """End all ranks in a state to go on from, then the script."""
        if self._stop.is_set():
            return
        self.ended.end, self.ended.why, self.ended.excluded = end, why, tuple(excluded)
        self._runtime.closing, self._runtime.cause = why, _CAUSES[end]
        self._view.note(why)
        self._look_at_all()
        self._stop.set()

    async def _why_over(self) -> str:
        """What follows is decided by the batch job that comes next, which sees how this one ended."""
        why = why_over(await self._driver.job(self._own.job_id), self._own.restarts, time.time())
        if why and not self._stop.is_set():
            self.ended.terminated = True
            self._runtime.closing = why
            self._view.note(f"{why}; the script is ended here")
            self._jobs.interrupt()
            self._look_at_all()
            self._stop.set()
        return why

    async def _hand_over(self, key: JobKey, nodes: Sequence[str]) -> bool:
        why = await self._others.why_not_without(nodes)
        if why:
            self._say_once(f"{key.name} stays on {', '.join(nodes)}: {why}")
            return False
        self._end(End.HANDED_OVER, f"{key.name} goes on in the next batch job, without {', '.join(nodes)}", nodes)
        return True

    def _signalled(self, number: signal.Signals) -> None:
        if number == signal.SIGUSR1 and self._plan.own_signal:
            self._end(End.TIME_LIMIT, "the time limit is near: the ranks are asked to save and end")
            return
        if number == signal.SIGTERM:
            self.ended.terminated = True
            self._runtime.closing = "the batch job is being ended"
            self._jobs.interrupt()
            self._look_at_all()
        if self._script is not None:
            self._script.send(number)

    # sruns of the script.

    def _called(self, call: Call) -> None:
        try:
            goes_on = self.steps.add(call)
            key = self.steps.key_of(call.uid)
            assert key is not None
            if self._stop.is_set():
                return
            if goes_on:
                self._runtime.take(key, call)
                self._look(key)
                self._settle(key)
            else:
                self._runtime.begin(key, call)
        except (Unreachable, OSError) as error:
            self._view.note(f"an srun of the script runs unwatched: {error}")
            call.start_unwatched()

    def _call_changed(self, call: Call) -> None:
        key = self.steps.key_of(call.uid)
        if key is None:
            return
        if call.by_user or call.gone:
            # The script has ended it, or is gone itself.
            self._jobs.interrupt([key])
        self._look(key)
        self._settle(key)

    def _settle(self, key: JobKey) -> None:
        """Let the script go on where its srun is over for good."""
        call, job = self.steps.call(key), self.steps.job(key)
        if call is None or call.gone or call.runs or self._stop.is_set():
            return
        script_goes_on = job is None or call.by_user or not call.watched or self.ended.terminated
        if (job is not None and is_finished(job)) or (script_goes_on and call.code is not None):
            self._runtime.forget(key, call.uid)
            call.leave(self.steps.exit_code(key))

    # Reports and decisions.

    def _report(self, report: Report) -> None:
        key = self.steps.key_of(report.job.uid)
        if key is None:
            return
        stepped = self.steps.stepped
        with contextlib.suppress(Unreachable, OSError):
            self._runtime.heard(key, report)
            if self.steps.hear(report) is not None:
                self._look(key)
            if self.steps.stepped and not stepped:
                self._others.note_step()

    def _heard(self, uid: str, seconds: float) -> None:
        key = self.steps.key_of(uid)
        if key is not None:
            self._queue.add(key, seconds)

    def _decided(self, job: TrainingJob) -> None:
        self._view.moved(self._jobs.as_written(job), phase_of(self._hub.heard(job.metadata.uid), job.status.attempt))
        self._settle(key_of(job))

    def _failed(self, key: JobKey, error: Exception) -> None:
        self._say_once(f"{key.name}: internal error, will try again: {type(error).__name__}: {error}")

    def _delayed(self, key: JobKey, why: str) -> None:
        if not self._runtime.closing:
            self._say_once(f"{key.name}: nothing can be decided, will try again: {why}")

    def _say_once(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._view.note(sentence)

    def _look_at_all(self) -> None:
        for job in self._jobs.all():
            self._look(key_of(job))

    def _look(self, key: JobKey) -> None:
        if self.steps.job(key) is not None:
            self._queue.add(key)


def is_over(job: TrainingJob) -> bool:
    """Whether nothing of it runs, and nothing will in this batch job."""
    return is_finished(job) or is_suspended(job) or job.status.attempt_stage == PLACING


def _short_folder() -> str | None:
    """For a socket, whose path has at most 107 letters (unix(7)); None: the usual one."""
    return "/tmp" if len(tempfile.gettempdir()) > _LONGEST_FOLDER else None  # noqa: S108  (ours alone below it)
