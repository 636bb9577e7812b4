"""The ranks of a worker whose command starts them: it is started once, they are found among what runs below it."""

from __future__ import annotations

import os
import shutil
import signal
import time
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from hedgerow import environment, kernel, misfit, ranks
from hedgerow.descendants import Descendants, RankPlace, topmost
from hedgerow.exit_watch import ExitWatch
from hedgerow.launch_mode import shown
from hedgerow.log import say, tell
from hedgerow.log_reader import RankLog
from hedgerow.logs import launcher_lines
from hedgerow.options import Options
from hedgerow.output import OutputPump, RankOutput
from hedgerow.pattern_process import PatternProcess
from hedgerow.rank_environment import command_environment
from hedgerow.ranks import Rank, RankFiles
from hedgerow.recorder import RankRecorder, RecorderReader, recorder_variables
from hedgerow.system_calls import die_with_parent
from hedgerow.wire import Command

_CANNOT_START = 127  # as a shell says it
_OUTPUT_WAIT_SECONDS = 0.5
# A launcher ends soon after a rank of it has failed: torchrun looks every 5 s at most
# (monitor_interval of torch/distributed/launcher/api.py). One that goes on has seen a good end.
_UNKNOWN_END_SECONDS = 10.0


class RankTree:
    """The command of one attempt and its ranks. folder: this attempt's own. Times are CLOCK_BOOTTIME seconds."""

    def __init__(self, options: Options, folder: str, pattern: Optional[PatternProcess]) -> None:
        self._options = options
        self._folder = folder
        os.makedirs(folder)
        reads = options.heartbeat_source in environment.LOG_SOURCES
        # What the ranks do not print by pipes of their own is read as the first one's.
        self._log = RankLog(pattern) if reads else None
        self._pattern = pattern
        self._descendants = Descendants()
        self._exits = ExitWatch()
        self._recorders: Optional[RecorderReader] = None
        self._process: Any = None
        self._status: Optional[int] = None
        self._found: Dict[int, kernel.Process] = {}
        self._gone: Dict[Tuple[int, int], float] = {}
        self._open: Set[int] = set()
        self._news = False
        self._said_replaced = False
        self._first_failed_at = float("inf")
        self.output = RankOutput(self._log, options.nproc + 1)
        self.ranks: List[Rank] = []

    def begin(
        self,
        start: Command,
        archive: str,
        inherited: Mapping[str, str],
        pump: OutputPump,
        recorders: RecorderReader,
    ) -> None:
        """Start the command; OSError when it cannot be started."""
        options = self._options
        variables = command_environment(options, start, self._folder, archive, inherited)
        variables.update(recorder_variables(self._folder, variables))
        _link(self._folder, self.output.read_ends)
        os.symlink(_path_of(self._exits.announcements), os.path.join(self._folder, "announcements"))
        for local in range(options.nproc):
            rank = self._expect(local, variables)
            recorders.follow(rank.recorder)
            pump.add(rank.output, whole_lines=options.prints_with_others)
            self.ranks.append(rank)
        if options.workers * options.nproc == 1:
            # Launchers start a lone rank without saying which one it is.
            variables.update(self.ranks[0].files.variables())
        pump.add(self.output, whole_lines=options.prints_with_others)
        self._recorders = recorders
        self._exits.start()
        try:
            self._process = ranks.spawn(list(options.command), variables, self.output, die_with_parent())
        except OSError:
            self._status = _CANNOT_START
            for rank in self.ranks:
                self._close_output(rank)
            self.ranks.clear()
            raise
        finally:
            self.output.close_write_ends()

    @property
    def groups(self) -> List[int]:
        """The process groups and sessions that are ours: the command's, and those of ranks that lead one."""
        mine = [] if self._process is None else [int(self._process.pid)]
        return mine + [rank.pid for rank in self.ranks if rank.pid is not None and not rank.exited]

    @property
    def command_ended(self) -> bool:
        """Whether the command has."""
        return self._status is not None

    @property
    def ended(self) -> bool:
        """Whether the command and every rank that it started have ended."""
        return self._status is not None and all(rank.exited for rank in self.ranks)

    @property
    def exit_code(self) -> int:
        """The command's, as a shell would give it; 0 while it runs."""
        status = self._status or 0
        return status if status >= 0 else 128 - status

    def kill_group(self) -> None:
        """End the command's process group at once."""
        if self._process is not None and self._status is None:
            ranks.kill_group(self._process.pid)

    def reap(self, pid: int, wait_status: int, now: float) -> None:
        """A child was reaped: the command, or what was left to us as an orphan, such as a rank."""
        if self._process is not None and pid == self._process.pid and self._status is None:
            self.take_ends()  # of a stage that was short, before nothing can be a rank any more
            self._status = self._process.returncode = ranks.exit_status(wait_status)
            self._news = True
            tell(launcher_lines.COMMAND_ENDED % self.exit_code)
            return
        for rank in self.ranks:
            if rank.pid == pid and not rank.exited and not rank.held:
                self._note_end(rank, wait_status, now)

    def look(self, table: Dict[int, kernel.Process], now: float) -> Optional[str]:
        """Find ranks, and note how they ended; what is wrong with the command as a whole, None: nothing."""
        below = [entry for entry in kernel.tree(os.getpid(), table) if entry.pid != os.getpid()]
        places = self._descendants.places(below, now)
        heads = topmost(places, table)
        wrong = misfit.under_one_command(
            [places[entry.pid] for entry in heads], self._options.worker, self._options.workers, self._options.nproc
        )
        if wrong is None:
            for entry in heads:
                self._take_in(entry, places[entry.pid])
                self._say_if_replaced(places[entry.pid])
            self._take_in_writers({entry.pid: entry for entry in below})
        self.settle(table, now)
        return wrong

    def settle(self, table: Mapping[int, kernel.Process], now: float) -> None:
        """Note how ranks ended."""
        self.take_ends()
        for rank in self.ranks:
            entry = self._found.get(rank.number)
            if rank.exited or rank.held or entry is None or not _gone(entry, table):
                continue
            status = kernel.exit_status(entry)
            gone_at = self._gone.setdefault((entry.pid, entry.start), now)
            if status is not None:
                self._note_end(rank, status, now)
            elif self._status is None and now - gone_at >= _UNKNOWN_END_SECONDS:
                self._note_end(rank, 0, gone_at)
        if self._status is not None:
            self._conclude(table, now)

    def take_ends(self) -> None:
        """Take in the ranks that have announced themselves, and note how ranks ended that were seen to."""
        self._note_seen_ends()
        for number, process in self._exits.announced():
            before = self._found.get(number)
            # What a rank has started says the same, while it lives; what begins after its end is of a next stage.
            if before is None or self._began_after(process, before):
                self._take_in(process, RankPlace(number), watched=True)
        self._note_seen_ends()

    def _began_after(self, process: kernel.Process, before: kernel.Process) -> bool:
        end = self._exits.ended(before)
        return end is not None and process.started >= end.at

    def _note_seen_ends(self) -> None:
        for rank in self.ranks:
            entry = self._found.get(rank.number)
            end = None if rank.exited or rank.held or entry is None else self._exits.ended(entry)
            if end is not None and end.status is not None:
                self._note_end(rank, end.status, end.at)

    def news(self) -> bool:
        """Whether a rank was found, or ended, since the last call."""
        news, self._news = self._news, False
        return news

    def close(self) -> None:
        """Let go of what the ranks shared."""
        for rank in self.ranks:
            self._close_output(rank)
        self._exits.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _expect(self, local: int, variables: Mapping[str, str]) -> Rank:
        options = self._options
        number = options.worker * options.nproc + local
        files = RankFiles(os.path.join(self._folder, "rank-%d" % number))
        log = self._log if local == 0 or self._log is None else RankLog(self._pattern)
        output = RankOutput(log, options.nproc + 1)
        _link(files.folder, output.write_ends)
        self._open.add(number)
        recorder = RankRecorder(number, variables)
        return Rank(number, local, files, output, None, options.heartbeat_source, recorder)

    def _take_in(self, entry: kernel.Process, place: RankPlace, watched: bool = False) -> None:
        local = place.rank - self._options.worker * self._options.nproc
        if not 0 <= local < len(self.ranks):
            return
        rank, before = self.ranks[local], self._found.get(place.rank)
        if rank.exit_code or kernel.is_same(entry, before) or self.command_ended:
            return
        if before is not None and self._exits.ended(before) is None:
            # The one that was found first is the rank as long as it lives. After a good end a script may start more.
            return
        self._found[rank.number] = entry
        rank.found(entry.pid)
        if not watched:
            self._exits.add(entry)
        self._news = True

    def _say_if_replaced(self, place: RankPlace) -> None:
        if not place.injected and not self._said_replaced:
            self._said_replaced = True
            say(launcher_lines.REPLACED)

    def _take_in_writers(self, below: Mapping[int, kernel.Process]) -> None:
        """Ranks that were forked after their launcher had begun show its variables, but beat into their own files."""
        for rank in self.ranks:
            entry = below.get(rank.told.writer_pid or 0)
            if rank.number not in self._found and entry is not None and entry.alive:
                self._take_in(entry, RankPlace(rank.number))

    def _note_end(self, rank: Rank, wait_status: int, at: float) -> None:
        if (
            not wait_status
            and not self.command_ended
            and all(other.exited for other in self.ranks if other is not rank)
        ):
            # What the script still does is a part of the run, such as to export what was trained.
            rank.hold(self._process.pid, at)
            self._news = True
            return
        rank.note_exit(wait_status, at)
        if wait_status:
            self._close_output(rank)
        if self._recorders is not None and rank.recorder.has_dump:
            # torch's watchdog wrote it before it ended the rank.
            self._recorders.expect(rank.recorder)
        # Its last words explain why it ended; a helper of it may hold the pipes open.
        until = time.monotonic() + _OUTPUT_WAIT_SECONDS
        rank.output.settle(until)
        if rank.exit_code and wait_status != signal.SIGTERM and at < self._first_failed_at:
            # Where it printed to a pipe of its script, such as one to tee, the last words of all are its own.
            self._first_failed_at = at
            self.output.settle(until)
            for other in self.ranks:
                other.borrow(self.output.tail.lines() if other is rank else [])
        self._news = True
        tell(launcher_lines.RANK_ENDED % (rank.number, rank.exit_code or 0))

    def _conclude(self, table: Mapping[int, kernel.Process], now: float) -> None:
        """The command has ended: what is not known of its ranks follows from how."""
        status = self._status or 0
        for rank in self.ranks:
            self._close_output(rank)
        wait_status = -status if status < 0 else status << 8
        for rank in self.ranks:
            if rank.exited:
                continue
            entry = self._found.get(rank.number)
            if entry is None or _gone(entry, table):
                end = None if entry is None or rank.held else self._exits.ended(entry)
                if rank.held and status:
                    self.output.settle(time.monotonic() + _OUTPUT_WAIT_SECONDS)
                    rank.say_last(self.output.tail.lines())
                self._note_end(rank, wait_status, now if end is None else end.at)
            elif status:
                how = "by signal %d" % -status if status < 0 else "with code %d" % status
                rank.say_last(["%s, which had started this rank, ended %s" % (shown(self._options.command), how)])
                self._note_end(rank, self.exit_code << 8, now)

    def _close_output(self, rank: Rank) -> None:
        if rank.number in self._open:
            self._open.remove(rank.number)
            rank.output.close_write_ends()


def _gone(entry: kernel.Process, table: Mapping[int, kernel.Process]) -> bool:
    now = table.get(entry.pid)
    return now is None or not kernel.is_same(entry, now) or not now.alive


def _link(folder: str, ends: Tuple[int, int]) -> None:
    """Give what runs below the command a way to open the pipes, or to know them, by name."""
    for name, end in zip(("stdout", "stderr"), ends):
        os.symlink(_path_of(end), os.path.join(folder, name))


def _path_of(descriptor: int) -> str:
    return "/proc/%d/fd/%d" % (os.getpid(), descriptor)
