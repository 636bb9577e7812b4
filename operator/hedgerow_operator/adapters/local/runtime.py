"""Placements as processes of this machine. A worker is one launcher, in a session of its own, with its ranks below.

Launchers outlive the controller. They are found again by their environment, so that a controller that was killed
between starting and recording one never starts it twice.
"""

import asyncio
import contextlib
import errno
import functools
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from hedgerow_operator.adapters.local.archive import ensure_archive
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.files import read_end, read_word
from hedgerow_operator.adapters.local.healing import Healing
from hedgerow_operator.adapters.local.launch import SHELL, checkpoint_directory, command_line, launcher_environment
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.processes import (
    ForeignTo,
    Identity,
    Member,
    boot_id,
    identify,
    is_alive,
    members,
    send_signal,
    strangers,
    whole_number,
)
from hedgerow_operator.adapters.local.records import Record, Records, boottime
from hedgerow_operator.adapters.local.seen import placement_seen
from hedgerow_operator.adapters.local.tokens import ensure_token
from hedgerow_operator.adapters.local.watch import ProcessWatch
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.seen import PlacementSeen
from hedgerow_operator.reconcile.ports import JobKey, Refused, Unreachable

# What a launcher needs beyond the ranks' grace to end by itself.
_LAUNCHER_SECONDS = 10.0
# Longest time in which killed processes must be gone; one that is caught in the kernel stays longer.
_KILL_SECONDS = 10.0
_KILL_LOOK_SECONDS = 0.02
# So many looks in a row must find nothing alive: one may miss what is just being started.
_QUIET_LOOKS = 2
# A pipe or a link that somebody put in place of the log is refused; of a plain file the flags change nothing.
_NEVER_WAITING = os.O_NONBLOCK | os.O_NOFOLLOW
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


class LocalRuntime:
    """See reconcile.ports.Runtime. on_change: a process of this job has ended."""

    fences_by_time = False

    def __init__(self, paths: StatePaths, clock: Callable[[], float], on_change: Callable[[JobKey], None]) -> None:
        self._paths = paths
        self._clock = clock
        self._on_change = on_change
        self._boot = boot_id()
        self._kept = Records(paths)
        self._archive = ensure_archive(paths)
        self._children: set[int] = set()
        self._watch = ProcessWatch()
        self._adopted: set[str] = set()
        self._told: dict[tuple[str, int], set[Identity]] = {}
        self._killed: set[str] = set()
        self._healing = Healing(self._recorded, on_change)

    def check(self, job: TrainingJob) -> None:
        """Raises StateError when the job's files cannot be used, or an earlier job of its name still runs here."""
        key = key_of(job)
        self._kept.of(key)
        try:
            ensure_token(self._paths, key)
        except (OSError, UnicodeDecodeError) as error:
            raise StateError(f"{self._paths.token(key)} cannot be used ({error}); give another --state-dir") from None
        here = ForeignTo(
            job.metadata.uid, key.namespace, key.name, str(self._paths.token(key)), checkpoint_directory(job)
        )
        pids = " ".join(str(identity.pid) for identity in strangers(here))
        if pids:
            raise StateError(
                f"an earlier job {key.namespace}/{key.name} still runs here, and two at once would write over each "
                f"other's checkpoints; stop its processes first: kill {pids}"
            )

    def close(self) -> None:
        """Stop watching; launchers live on."""
        self._watch.close()
        self._healing.close()

    def restore(self, jobs: Iterable[TrainingJob]) -> bool:
        """Write again what somebody deleted of the files of these jobs; whether anything was. Raises Unreachable."""
        try:
            restored = not self._archive.exists()
            if restored:
                self._archive = ensure_archive(self._paths)
            for key in map(key_of, jobs):
                if not self._paths.token(key).exists():
                    self._ensure_token(key)
                    restored = True
                restored |= self._kept.restore(key)
        except (OSError, StateError) as error:
            raise Unreachable(str(error)) from None
        return restored

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        """See Runtime. Like a kubelet it also ends what was begun: creations cut short, removals past their grace."""
        self._reap()
        self._healing.follow(job)
        found = await self._members(job)
        self._adopt(job, found)
        return tuple(seen for record in self._records(job) if (seen := self._look(job, record, found)) is not None)

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        """See Runtime. There is no other machine to exclude this one for."""
        if any(record.attempt == attempt for record in self._records(job)):
            return
        self._ensure_token(key_of(job))
        for worker in range(job.spec.workers):
            self._paths.exit_code(key_of(job), attempt, worker).unlink(missing_ok=True)
        record = Record(
            uid=job.metadata.uid,
            attempt=attempt,
            workers=job.spec.workers,
            boot=self._boot,
            created=self._clock(),
        )
        self._kept.write(key_of(job), record)
        alive = self._alive(record, await self._members(job))
        record, _ = self._complete(job, record, alive)
        self._watch_all(job, record)

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        """See Runtime. Launchers get SIGTERM and stop their ranks; what is left after the grace is killed."""
        record = next((entry for entry in self._records(job) if entry.attempt == attempt), None)
        if record is None:
            return
        found = [member for member in await asyncio.to_thread(members, job.metadata.uid) if member.placement == attempt]
        forced = {index for index in range(record.workers) if f"worker-{index}" in force}
        if record.asked is None:
            self._told[job.metadata.uid, attempt] = set()
            self._tell(job, attempt, found)
            record = msgspec.structs.replace(record, asked=boottime())
            self._kept.write(key_of(job), record)
            asyncio.get_running_loop().call_later(_patience(job), self._on_change, key_of(job))
        send_signal([member.identity for member in found if member.worker in forced], signal.SIGKILL)

    def _look(self, job: TrainingJob, record: Record, found: list[Member] | None) -> PlacementSeen | None:
        """One placement; None, and its record deleted, once it was asked to go and nothing of it lives."""
        alive = self._alive(record, found)
        if record.asked is not None and not alive:
            self._kept.drop(key_of(job), record.attempt)
            self._told.pop((record.uid, record.attempt), None)
            self._healing.forget(record)
            return None
        if record.asked is not None:
            self._tell(job, record.attempt, found or ())
        if record.asked is not None and boottime() - record.asked >= _patience(job):
            doomed = [member.identity for member in found or () if member.placement == record.attempt]
            send_signal(doomed, signal.SIGKILL)
        if record.asked is None and record.attempt == job.status.placement:
            record, started = self._complete(job, record, alive)
            alive |= started
        self._watch_all(job, record)
        codes = self._exit_codes(job, record)
        logs = functools.partial(self._paths.log, key_of(job), record.attempt)
        ended = self._healing.ended(record)
        return placement_seen(record, alive, codes, self._clock(), ended, lambda worker: read_end(logs(worker)))

    def _tell(self, job: TrainingJob, attempt: int, found: Iterable[Member]) -> None:
        """Ask the launchers to end their ranks and themselves, each once: a second request means without grace."""
        told = self._told.get((job.metadata.uid, attempt))
        if told is None:  # an earlier controller asked
            return
        launchers = {member.identity for member in found if member.placement == attempt and not member.is_rank} - told
        send_signal(launchers, signal.SIGTERM)
        # A stopped process acts on TERM only when it is continued.
        send_signal(launchers, signal.SIGCONT)
        told |= launchers

    async def kill(self, job: TrainingJob) -> list[int]:
        """End every process of the job at once, and start none any more; the pids that would not go."""
        self._killed.add(job.metadata.uid)
        deadline, quiet = time.monotonic() + _KILL_SECONDS, 0
        while True:
            found = await asyncio.to_thread(members, job.metadata.uid)
            send_signal([member.identity for member in found], signal.SIGKILL)
            quiet = 0 if found else quiet + 1
            if quiet >= _QUIET_LOOKS or time.monotonic() >= deadline:
                return [member.identity.pid for member in found]
            await asyncio.sleep(_KILL_LOOK_SECONDS)

    async def _members(self, job: TrainingJob) -> list[Member] | None:
        """Every live process of the job; None: all launchers live, so nobody has to look through all processes."""
        records = self._records(job)
        if any(record.asked is not None for record in records):
            return await asyncio.to_thread(members, job.metadata.uid)
        if job.metadata.uid in self._adopted and all(self._launchers_live(record) for record in records):
            return None
        return await asyncio.to_thread(members, job.metadata.uid)

    def _launchers_live(self, record: Record) -> bool:
        launchers = record.launchers if record.boot == self._boot else {}
        return len(launchers) == record.workers and all(is_alive(launcher) for launcher in launchers.values())

    def _alive(self, record: Record, found: list[Member] | None) -> set[int]:
        if found is None:
            return set(range(record.workers))
        return {member.worker for member in found if member.placement == record.attempt}

    def _records(self, job: TrainingJob) -> list[Record]:
        try:
            records = self._kept.of(key_of(job))
        except StateError as error:
            raise Unreachable(str(error)) from None
        return [record for record in records if record.uid == job.metadata.uid]

    def _adopt(self, job: TrainingJob, found: list[Member] | None) -> None:
        """Records for processes that live without one, once for each job."""
        self._adopted.add(job.metadata.uid)
        known = {record.attempt for record in self._records(job)}
        for attempt in {member.placement for member in found or ()} - known:
            record = Record(
                uid=job.metadata.uid,
                attempt=attempt,
                workers=job.spec.workers,
                boot=self._boot,
                created=self._clock(),
            )
            self._kept.write(key_of(job), record)

    def _complete(self, job: TrainingJob, record: Record, alive: set[int]) -> tuple[Record, set[int]]:
        """Start the workers of the placement that never were; each is recorded before the next is started."""
        started = set()
        for worker in range(record.workers):
            if worker in record.launchers or worker in alive:
                continue
            launcher = self._start(job, record.attempt, worker)
            record = msgspec.structs.replace(record, launchers={**record.launchers, worker: launcher})
            self._kept.write(key_of(job), record)
            started.add(worker)
        return record, started

    def _start(self, job: TrainingJob, attempt: int, worker: int) -> Identity:
        assert job.spec.local is not None
        key = key_of(job)
        if job.metadata.uid in self._killed:
            raise Unreachable(f"worker {worker} is not started: the job is being killed")
        if not os.path.isdir(job.spec.local.working_dir):
            raise Refused(f"worker {worker} cannot be started: there is no directory {job.spec.local.working_dir}")
        # Descriptors close themselves at exec; until then the child holds the lock on the state directory.
        try:
            pid = os.posix_spawn(
                SHELL,
                command_line(job.spec.local, self._archive, self._paths.exit_code(key, attempt, worker)),
                launcher_environment(job, attempt, worker, self._paths, os.environ),
                file_actions=_standard_streams(self._paths.log(key, attempt, worker)),
                setsid=True,
                setsigdef=_IGNORED_BY_PYTHON,
            )
        except ValueError as error:  # command or variables that no process can have
            raise Refused(f"worker {worker} cannot be started: {error}") from None
        except OSError as error:
            refusal = Refused if error.errno == errno.E2BIG else Unreachable
            raise refusal(f"worker {worker} cannot be started: {error.strerror}") from None
        self._children.add(pid)
        return identify(pid) or Identity(pid, 0)

    def _exit_codes(self, job: TrainingJob, record: Record) -> dict[int, int]:
        codes = {
            worker: whole_number(read_word(self._paths.exit_code(key_of(job), record.attempt, worker)))
            for worker in range(record.workers)
        }
        return {worker: code for worker, code in codes.items() if code is not None}

    def _ensure_token(self, key: JobKey) -> None:
        try:
            ensure_token(self._paths, key)
        except (OSError, UnicodeDecodeError) as error:
            raise Unreachable(f"{self._paths.token(key)} cannot be used ({error})") from None

    def _recorded(self, job: TrainingJob) -> list[Record]:
        with contextlib.suppress(Unreachable):
            return [record for record in self._records(job) if record.boot == self._boot]
        return []

    def _watch_all(self, job: TrainingJob, record: Record) -> None:
        key = key_of(job)
        if record.boot == self._boot:
            for launcher in record.launchers.values():
                self._watch.add(launcher, lambda: self._on_change(key))

    def _reap(self) -> None:
        self._children = {pid for pid in self._children if not _has_ended(pid)}


def _has_ended(pid: int) -> bool:
    """Whether a child has; it is then reaped."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _patience(job: TrainingJob) -> float:
    return job.spec.recovery.grace_seconds + _LAUNCHER_SECONDS


def _standard_streams(log: Path) -> list[tuple[Any, ...]]:
    """File actions of posix_spawn: nothing to read, everything written is appended to ``log``."""
    return [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NEVER_WAITING, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
