"""One local run: the same engine and report server as on a cluster, over files and processes."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence

from aiohttp import web

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import FileJobs, key_of
from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.launch import LOOPBACK
from hedgerow_operator.adapters.local.lock import StateLock
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.session_file import SessionRecord, full_name, write_session
from hedgerow_operator.adapters.local.tokens import TokenFiles
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.outcome import NOT_ALL_SUCCEEDED, exit_code, is_at_rest, is_finished, output_to_read, verdict
from hedgerow_operator.cli.own_address import own_address, url_host
from hedgerow_operator.cli.phase import phase_of
from hedgerow_operator.cli.session_agents import SessionAgents
from hedgerow_operator.cli.session_runtimes import SessionRuntimes
from hedgerow_operator.cli.views.base import View
from hedgerow_operator.reconcile.engine import Reconciler
from hedgerow_operator.reconcile.ports import JobKey, Unreachable
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.server.app import make_app, make_runner
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.listening import listen
from hedgerow_operator.server.metrics import Metrics

Beside = contextlib.AbstractAsyncContextManager[None]

_LOOK_SECONDS = 0.2
# Reports cost nothing within one machine, and whoever looks at the table wants to see the steps pass.
_REPORT_SECONDS = 1.0
# A terminal and a wrapper (timeout, make) may both pass one Ctrl-C on.
_SAME_PRESS_SECONDS = 0.5
_FIRST_LOOK_SECONDS = 5.0
_OVER_BEFORE = (
    "(from an earlier run; nothing was started. To train from step 0, give another --state-dir and an empty "
    "checkpoint directory)"
)
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class SoleLeader:
    """The lock on the state directory is the lease: held from start to end."""

    def holds(self) -> bool:
        """See ports.Leadership."""
        return True


class Session:
    """Runs jobs until all are at rest. A first Ctrl-C suspends them for this run, a second kills them."""

    def __init__(
        self,
        paths: StatePaths,
        lock: StateLock,
        view: View,
        again: str,
        ready: Callable[[], None] = lambda: None,
        hung_up: Callable[[], None] = lambda: None,
        report_host: str | None = None,
        stays: bool = False,
        beside: Beside | None = None,
    ) -> None:
        """``again``: the command that goes on from where an interrupted run ends. ``ready``: called once the jobs are
        looked after. ``hung_up``: called when the terminal is gone; the session goes on. ``report_host``: where nodes
        of Slurm reach this machine, None: to be found out. ``stays``: it ends by a person only, whatever the jobs do.
        ``beside``: what is up as long as they are looked after.
        """
        self._paths = paths
        self._lock = lock
        self._url = ""
        self._again = again
        self._ready, self._hung_up = ready, hung_up
        self._view = view
        self._jobs = FileJobs(paths, time.time, view.changed, view.happened)
        self._runtimes = SessionRuntimes(paths, self._look)
        self._report_host, self._stays, self._beside = report_host, stays, beside or contextlib.nullcontext()
        self._hub = ReportHub(clock=time.monotonic, longest_interval=_REPORT_SECONDS)
        self._metrics = Metrics()
        self._health = Health(time.monotonic)
        self._leader = SoleLeader()
        self._agents = SessionAgents(paths, self._runtimes.slurm_nodes, self._leader, view.note)
        self._agents.nodes.on_quarantine = lambda node: self._look_at_all()
        self._engine = Reconciler(
            self._jobs,
            self._runtimes.of,
            self._hub,
            self._leader,
            time.time,
            self._metrics,
            machines=self._agents.nodes,
        )
        self._queue = WorkQueue(self._health.watching(self._engine.reconcile), on_error=self._failed)
        self._interrupted, self._interrupted_at = False, 0.0
        self._killed = asyncio.Event()
        self._hindrance = ""
        self._faults: dict[JobKey, str] = {}
        self._restored = False

    async def run(self, jobs: Sequence[TrainingJob]) -> int:
        """Apply and run the jobs; the exit code. Raises StateError."""
        if self._paths.address.is_dir():
            raise StateError(f"{self._paths.address} is a directory where a file must be; move it away")
        stored = [self._apply(job) for job in jobs]
        before = {key_of(job) for job in stored if is_finished(job)}
        for job in stored:
            self._view.changed(job)
        self._hub.on_report, self._hub.on_heard = self._heard, self._engine.hear
        self._engine.on_decided = self._decided
        self._engine.on_unreachable = self._delayed
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._signalled)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup leaves it
            loop.add_signal_handler(signal.SIGHUP, self._hung_up)
        self._write_session()
        async with self._beside, self._working():
            self._ready()
            await self._until_at_rest()
        final = [self._jobs.as_written(job) for job in self._jobs.all()]
        for job in final:
            over = f" {_OVER_BEFORE}" if key_of(job) in before else ""
            self._view.note(verdict(job, self._again, self._output) + over)
        self._view.close()
        return NOT_ALL_SUCCEEDED if self._killed.is_set() else exit_code(final)

    def _output(self, job: TrainingJob) -> str:
        return str(self._paths.log(key_of(job), *output_to_read(job)))

    def _apply(self, job: TrainingJob) -> TrainingJob:
        try:
            stored = self._jobs.apply(job)
        except Unreachable as error:
            raise StateError(str(error)) from None
        self._runtimes.check(stored)
        return stored

    @contextlib.asynccontextmanager
    async def _working(self) -> AsyncIterator[None]:
        """Queue and server, up for as long as the block lasts."""
        await self._runtimes.begin(self._jobs.all())
        self._look_at_all()
        parts = [self._queue.run(), *([self._agents.run()] if self._on_slurm() else [])]
        working = [asyncio.create_task(part) for part in parts]
        await self._until_known()
        runner = await self._serve()
        self._health.synced = True
        try:
            yield
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
            self._paths.address.unlink(missing_ok=True)
            await runner.cleanup()
            await self._runtimes.close()

    async def _until_known(self) -> None:
        """Until every job was looked at once: a launcher of an unknown job is turned away, and comes back late."""
        deadline = time.monotonic() + _FIRST_LOOK_SECONDS
        while time.monotonic() < deadline:
            if all(self._hub.uid_known(job.metadata.uid) for job in self._jobs.all()):
                return
            await asyncio.sleep(0.01)

    async def _serve(self) -> web.AppRunner:
        tokens = TokenFiles(self._paths, self._jobs.key_of_uid)
        agents = self._agents.heard if self._on_slurm() else None
        runner = make_runner(make_app(self._hub, tokens, self._leader, self._metrics, self._health, agents))
        await runner.setup()
        if self._on_slurm():
            socket = listen("", 0)
            await web.SockSite(runner, socket).start()
            self._url = f"http://{url_host(self._report_host or own_address())}:{socket.getsockname()[1]}"
        else:
            await web.TCPSite(runner, LOOPBACK, 0).start()
            self._url = f"http://{LOOPBACK}:{runner.addresses[0][1]}"
        self._write_address()
        return runner

    def _on_slurm(self) -> bool:
        return any(job.spec.slurm is not None for job in self._jobs.all())

    def _write_session(self) -> None:
        jobs = [key_of(job) for job in self._jobs.all()]
        record = SessionRecord(jobs=tuple(map(full_name, jobs)), again=self._again, folder=os.getcwd())
        try:
            write_session(self._paths, record)
            for key in jobs:
                self._paths.stop_request(key).unlink(missing_ok=True)
        except OSError as error:
            raise StateError(f"{self._paths.root} cannot be written to: {error.strerror}") from None

    def _stop_as_asked(self) -> None:
        """What hedgerow stop asks for."""
        for key in map(key_of, self._jobs.all()):
            request = self._paths.stop_request(key)
            if request.exists():
                with contextlib.suppress(OSError):
                    request.unlink()
                self._view.note(f"{full_name(key)} is being stopped, as hedgerow stop asks for")
                self._jobs.interrupt([key])
                self._look(key)

    def _write_address(self) -> None:
        write_whole(self._paths.address, f"{self._url}\n".encode())

    async def _until_at_rest(self) -> None:
        while not self._killed.is_set() and not await self._all_at_rest():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._killed.wait(), _LOOK_SECONDS)
            self._stop_as_asked()
            self._view.tick()
            self._keep_state()
        if self._killed.is_set():
            left = [name for job in self._jobs.all() for name in await self._runtimes.kill(job)]
            if left:
                self._view.note(f"these do not end: {', '.join(left)}")

    def _keep_state(self) -> None:
        """Whoever deletes the state directory while jobs run takes nothing from them: it is written anew."""
        try:
            restored = self._lock.is_lost
            if restored:
                self._lock.retake()
            if not self._paths.address.exists():
                self._write_address()
                self._write_session()
                restored = True
            restored |= self._runtimes.restore(self._jobs.all())
            restored |= self._jobs.restore()
        except (OSError, StateError, Unreachable) as error:
            self._hindered(f"files of {self._paths.root} were deleted and cannot be written again: {error}")
            return
        if restored and not self._restored:
            self._view.note(
                f"files of the state directory {self._paths.root} were deleted while its jobs run; they are written "
                "again and the ranks go on, but what these print is lost until they start anew"
            )
        self._restored = restored

    async def _all_at_rest(self) -> bool:
        """Whether every job is, with no process left."""
        jobs = self._jobs.all()
        if (self._stays and not self._interrupted) or not all(is_at_rest(job) for job in jobs):
            return False
        try:
            seen = [placement for job in jobs for placement in await self._runtimes.of(job).placements(job)]
        except Unreachable as error:
            self._hindered(str(error))
            return False
        return all(placement.ended for placement in seen)

    def _hindered(self, sentence: str) -> None:
        """Say once what keeps a finished run from ending."""
        if sentence != self._hindrance:
            self._hindrance = sentence
            self._view.note(f"{sentence}; will try again")

    def _signalled(self) -> None:
        if self._interrupted and time.monotonic() - self._interrupted_at < _SAME_PRESS_SECONDS:
            return
        if self._interrupted:
            self._killed.set()
            if self._jobs.all():
                self._view.note("killing the ranks")
            return
        self._interrupted, self._interrupted_at = True, time.monotonic()
        if self._jobs.all():
            self._view.note("stopping the ranks; press Ctrl-C once more to kill them at once")
        self._jobs.interrupt()
        self._look_at_all()

    def _failed(self, key: JobKey, error: Exception) -> None:
        """Say once what the next try will most likely say again."""
        self._say_once(key, f"internal error, will try again: {type(error).__name__}: {error}")

    def _delayed(self, key: JobKey, why: str) -> None:
        """A full disk is not to look like a job that runs."""
        self._say_once(key, f"nothing can be decided, will try again: {why}")

    def _say_once(self, key: JobKey, what: str) -> None:
        sentence = f"{key.namespace}/{key.name}: {what}"
        if self._faults.get(key) != sentence:
            self._faults[key] = sentence
            self._view.note(sentence)

    def _heard(self, uid: str, seconds: float) -> None:
        key = self._jobs.key_of_uid(uid)
        if key is not None:
            self._queue.add(key, seconds)

    def _decided(self, job: TrainingJob) -> None:
        self._view.moved(self._jobs.as_written(job), phase_of(self._hub.heard(job.metadata.uid), job.status.attempt))

    def _look_at_all(self) -> None:
        for job in self._jobs.all():
            self._look(key_of(job))

    def _look(self, key: JobKey) -> None:
        self._queue.add(key)
