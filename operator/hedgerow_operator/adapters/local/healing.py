"""Ends launchers that stand still, with their ranks: nobody watches those any more, nobody could stop or start them."""

import asyncio
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.launcher_watch import LOOK_SECONDS, LauncherWatch
from hedgerow_operator.adapters.local.processes import (
    Identity,
    children,
    descendants,
    is_alive,
    is_stopped,
    send_signal,
)
from hedgerow_operator.adapters.local.records import Record
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.reconcile.ports import JobKey

_NOTHING: Mapping[int, str] = MappingProxyType({})
# What was forked while the first look was taken is seen by the second.
_LOOKS = 2


class Healing:
    """Looks at the launchers of every job about once a second.

    records: the placements of a job whose processes are of this boot. on_change: a launcher of this job was ended.
    """

    def __init__(self, records: Callable[[TrainingJob], Iterable[Record]], on_change: Callable[[JobKey], None]) -> None:
        self._records = records
        self._on_change = on_change
        self._jobs: dict[JobKey, TrainingJob] = {}
        self._launchers: dict[Identity, Identity] = {}
        self._watch = LauncherWatch()
        self._ended: dict[tuple[str, int], dict[int, str]] = {}
        self._next: asyncio.TimerHandle | None = None

    def follow(self, job: TrainingJob) -> None:
        """From now on the launchers of this job are looked at; the job as it reads now counts."""
        self._jobs[key_of(job)] = job
        if self._next is None:
            self._next = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def ended(self, record: Record) -> Mapping[int, str]:
        """Worker -> why its launcher was ended here."""
        return self._ended.get((record.uid, record.attempt), _NOTHING)

    def forget(self, record: Record) -> None:
        """The placement is gone."""
        self._ended.pop((record.uid, record.attempt), None)

    def close(self) -> None:
        """Look no more."""
        if self._next is not None:
            self._next.cancel()

    def _look(self) -> None:
        self._next = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        seen = {}
        for job in self._jobs.values():
            for record in self._records(job):
                for worker, shell in record.launchers.items():
                    launcher = self._launcher_below(shell)
                    if launcher is not None:
                        seen[shell] = launcher
                        self._heal(job, record, worker, launcher)
                    if is_stopped(shell):
                        # All that it does is to wait, and to write down how its launcher ended.
                        send_signal([shell], signal.SIGCONT)
        self._launchers = seen
        self._watch.keep(seen.values())

    def _launcher_below(self, shell: Identity) -> Identity | None:
        known = self._launchers.get(shell)
        if known is not None and is_alive(known):
            return known
        return next(iter(children(shell)), None) if is_alive(shell) else None

    def _heal(self, job: TrainingJob, record: Record, worker: int, launcher: Identity) -> None:
        seconds = self._watch.look(launcher, time.monotonic())
        if seconds < job.spec.health.report_timeout_seconds or job.spec.recovery.mode != "Act":
            return
        how = "was stopped by a signal" if is_stopped(launcher) else "stood still"
        ended = self._ended.setdefault((record.uid, record.attempt), {})
        ended[worker] = f"its launcher {how} for {seconds:.0f} s and was killed with its ranks"
        _end(launcher)
        self._on_change(key_of(job))


def _end(launcher: Identity) -> None:
    """Kill a launcher and all that is below it. Stopped, it adopts what its ranks leave and starts nothing more."""
    send_signal([launcher], signal.SIGSTOP)
    for _ in range(_LOOKS):
        send_signal(descendants(launcher), signal.SIGKILL)
    send_signal([launcher], signal.SIGKILL)
