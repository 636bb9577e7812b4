"""One rank: a process in a group of its own, its heartbeat and stack files, and what is known of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set

from hedgerow import environment, kernel, memory, record
from hedgerow.activity import ActivityFold, take_sample
from hedgerow.output import RankOutput
from hedgerow.progress import Progress
from hedgerow.rank_progress import RankProgress
from hedgerow.recorder import RankRecorder
from hedgerow.stacks import StackSampler
from hedgerow.wire import PHASE_ENDING, RANK_EXITED, RANK_RUNNING, RANK_STARTING, CommunicationReport, RankReport

# A leak that fills a node within an hour is seen in time.
MEMORY_SECONDS = 10.0
_DEVICES = "CUDA_VISIBLE_DEVICES"
_LONGEST_DEVICES = 512


class RankFiles:
    """The small files that a rank and its launcher share, in a folder that goes with the rank."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder)
        self.folder = folder
        self.heartbeat = os.path.join(folder, "heartbeat")
        self.stacks = os.path.join(folder, "stacks")
        record.create(self.heartbeat)
        with open(self.stacks, "wb"):
            pass

    def variables(self) -> Dict[str, str]:
        """How the rank finds them."""
        return {environment.HEARTBEAT: self.heartbeat, environment.STACKS: self.stacks}

    def remove(self) -> None:
        """Forget them."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Rank:
    """A rank. ``process`` is its main process where we have started it, and leads its own session and group; None where
    the command starts it: it is then found later.

    source: where its progress comes from, of ``environment.SOURCES``.
    """

    def __init__(
        self,
        number: int,
        local: int,
        files: RankFiles,
        output: RankOutput,
        process: Optional[Any],
        source: str,
        recorder: RankRecorder,
    ) -> None:
        self.number = number
        self.recorder = recorder
        self.local = local
        self.files = files
        self.output = output
        self.told = RankProgress(files.heartbeat, output.log, source)
        self.activity = ActivityFold()
        self.stacks = StackSampler(files.stacks)
        self._process = process
        self._pid: Optional[int] = None if process is None else int(process.pid)
        self._last_words: Optional[List[str]] = None
        self._borrowed: List[str] = []
        self._own: Set[int] = set()
        self._memory: Optional[int] = None
        self._memory_at = 0.0
        self._devices: Optional[str] = None
        self._exit_status: Optional[int] = None
        self._exited_at: Optional[float] = None
        self._held_at: Optional[float] = None

    @property
    def progress(self) -> Progress:
        """Its progress by the source that counts."""
        return self.told.current

    @property
    def pid(self) -> Optional[int]:
        """Its main process, which leads its process group and session where we have started it; None: not found yet."""
        return self._pid

    @property
    def exited(self) -> bool:
        """Whether its main process has ended."""
        return self._exit_status is not None

    @property
    def exit_code(self) -> Optional[int]:
        """As a shell would give it: 128 + signal for a signal; None while it runs."""
        if self._exit_status is None:
            return None
        return self._exit_status if self._exit_status >= 0 else 128 - self._exit_status

    def note_exit(self, wait_status: int, now: float) -> None:
        """Its main process has ended with this status of wait(2)."""
        self._exit_status = exit_status(wait_status)
        self._exited_at = now
        if self._process is not None:
            # We reap by ourselves, adopted orphans too; Popen must not look for the process any more.
            self._process.returncode = self._exit_status
        self._look_at_progress()

    def found(self, pid: int) -> None:
        """The command has started it as this process, for the first time or once more after a good end."""
        self._pid = pid
        self._exit_status = self._exited_at = self._held_at = None

    def hold(self, pid: int, now: float) -> None:
        """It has ended well, and ends for others once the command, which is process ``pid``, has done the rest."""
        self._pid, self._held_at = pid, now

    @property
    def held(self) -> bool:
        """Whether only the command is left of it."""
        return self._held_at is not None and not self.exited

    def borrow(self, words: List[str]) -> None:
        """What was printed last where its own output cannot be told from that of others."""
        self._borrowed = words

    def say_last(self, words: List[str]) -> None:
        """What its end is put down to, in place of what it printed last."""
        self._last_words = words

    def look(self, now: float) -> bool:
        """Fold in new boundaries, and the stack sample that was asked for; True at the first beat and at a sample."""
        silent = not self.progress.boundaries
        self._look_at_progress()
        first = silent and self.progress.boundaries > 0
        return self.stacks.collect(now) or first

    def sample(self, table: Dict[int, kernel.Process], now: float) -> bool:
        """Look at its processes; True when its state changed in a way worth a report."""
        root = self._pid
        if root is None:
            return False
        below = {member.pid for member in kernel.tree(root, table)}
        self._own = below | {member.pid for member in table.values() if member.session == root}
        if now - self._memory_at >= MEMORY_SECONDS:
            self._memory_at = now
            self._memory = memory.resident_bytes(below)
            # A shell may set it before it becomes the rank.
            devices = (kernel.environ(self._main_pid() or root) or {}).get(_DEVICES)
            self._devices = None if devices is None else devices[:_LONGEST_DEVICES]
        return self.activity.add(take_sample(self._main_pid() or root, root, table, now, self.stacks.bytes_seen))

    def ask_stack(self) -> None:
        """Ask for a stack sample; it is there at the next tick."""
        pid = self._main_pid()
        if pid is not None:
            self.stacks.ask(pid)

    def overdue(self, deadlines: Mapping[str, float]) -> bool:
        """Whether it has made no progress for longer than the deadline of its phase, as far as there is one."""
        deadline = None if self.held else deadlines.get(self.progress.phase)
        return deadline is not None and self.progress.age(time.monotonic_ns()) > deadline

    def report(self, now: float) -> RankReport:
        """What the operator is told; ``now`` is CLOCK_BOOTTIME."""
        if self.exited:
            # Its last lines are read after it has ended.
            self._look_at_progress()
        status = self._exit_status
        finite, words = self.told.numbers()
        return RankReport(
            rank=self.number,
            local_rank=self.local,
            state=self._state(),
            pid=self._pid,
            exit_code=status if status is not None and status >= 0 else None,
            exit_signal=-status if status is not None and status < 0 else None,
            exit_age=None if self._exited_at is None else max(0.0, now - self._exited_at),
            beats=self.progress.boundaries,
            step=self.progress.step,
            phase=PHASE_ENDING if self.held else self.progress.phase,
            progress_age=self._progress_age(now),
            source=self.progress.source,
            step_seconds=self.progress.step_seconds,
            activity=self.activity.activity(now, self.stacks.unchanged_seconds(now)),
            stack=self.stacks.newest,
            output_tail=self._last_words or self.output.tail.lines() or self._borrowed,
            bursty=self.told.bursty,
            values=finite,
            not_finite=words,
            memory_bytes=self._memory,
            communication=self._communication(now),
            collectives=self.recorder.digest,
            collectives_age=self.recorder.digest_age(),
            records=not self.exited and self.recorder.listens(),
            output_unread_age=self.told.unread_age(),
            devices=self._devices,
        )

    def kill_group(self) -> None:
        """End its process group at once, where it leads one. Once its main process has been reaped, the number may be
        another group's.
        """
        if not self.exited and self._process is not None:
            kill_group(self._process.pid)

    def _communication(self, now: float) -> Optional[CommunicationReport]:
        """As the rank measured it, else by NCCL Inspector."""
        pid = self.told.writer_pid or self._pid
        if pid is None:
            return None
        inspected = self.recorder.communication(pid, self.progress.step_seconds, now)
        return self.told.communication() or inspected

    def close(self) -> None:
        """Let go of its files."""
        self.told.close()
        self.files.remove()

    def _look_at_progress(self) -> None:
        """Fold in new boundaries; what was seen of a rank that has moved since says nothing any more."""
        if self.told.look():
            self.stacks.forget()

    def _progress_age(self, now: float) -> float:
        if self._held_at is not None and not self.exited:
            return max(0.0, now - self._held_at)
        return self.progress.age(time.monotonic_ns())

    def _state(self) -> str:
        if self.exited:
            return RANK_EXITED
        return RANK_RUNNING if self.progress.boundaries else RANK_STARTING

    def _main_pid(self) -> Optional[int]:
        """The process that beats, where a wrapper started it; else the rank's first. The file is the rank's and may
        name any process, so that only the rank's own count.
        """
        pid = self.told.writer_pid
        return pid if pid is not None and pid in self._own else self._pid


def kill_group(leader: int) -> None:
    """End a process group at once."""
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def exit_status(wait_status: int) -> int:
    """A status of wait(2) as an exit code, or as the negative number of a signal."""
    return -os.WTERMSIG(wait_status) if os.WIFSIGNALED(wait_status) else os.WEXITSTATUS(wait_status)


def spawn(
    command: List[str], variables: Mapping[str, str], output: RankOutput, tie: Optional[Callable[[], None]]
) -> Any:
    """Start a rank's process, or the command that starts them; OSError when the command cannot be started. Call it from
    the main thread only: ``tie`` makes the process die with the thread that forked it.
    """
    return subprocess.Popen(
        command,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=output.write_ends[0],
        stderr=output.write_ends[1],
        start_new_session=True,
        preexec_fn=tie,
    )


def spawn_as_given(
    command: List[str], variables: Mapping[str, str], pipes: Sequence[int], tie: Optional[Callable[[], None]]
) -> Any:
    """As ``spawn``, for a rank that gets all that this process has: descriptors such as PMI_FD, standard input."""
    return subprocess.Popen(
        command,
        env=dict(variables),
        stdout=pipes[0],
        stderr=pipes[1],
        close_fds=False,
        start_new_session=True,
        preexec_fn=tie,
    )
