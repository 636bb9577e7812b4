"""One attempt of this worker: starts its ranks, looks at them at every tick, and ends them."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from typing import Dict, List, Mapping, Optional, Set

from hedgerow import durations, environment, kernel, misfit, ranks, stopping
from hedgerow.descendants import Descendants
from hedgerow.launch_mode import PER_WORKER
from hedgerow.leftovers import Leftovers
from hedgerow.log import say
from hedgerow.log_reader import RankLog
from hedgerow.logs.launcher_lines import CANNOT_START
from hedgerow.options import Options
from hedgerow.output import OutputPump, RankOutput
from hedgerow.pattern_process import PatternProcess
from hedgerow.rank_environment import rank_environment
from hedgerow.rank_tree import RankTree
from hedgerow.ranks import Rank, RankFiles
from hedgerow.recorder import RankRecorder, RecorderReader, recorder_variables
from hedgerow.signalling import signal_process
from hedgerow.slurm.tasks import Absent, Tasks
from hedgerow.survivors import survivors
from hedgerow.system_calls import die_with_parent
from hedgerow.wire import RANK_EXITED, STAGE_RUNNING, STAGE_STOPPED, STAGE_STOPPING, STOP_ENDED, Command, RankReport

SAMPLE_SECONDS = 0.5
STACK_SECONDS = 1.0
# A dump takes stacks for this long, so that it also says whether they move.
DUMP_SECONDS = 2.5
# What outlives the ranks of a stopped attempt gets this much longer.
LEFTOVER_SECONDS = 2.0
_CANNOT_START = 127  # as a shell says it
# Another start may well succeed, elsewhere.
_NOT_ITS_FAULT = 1


@dataclasses.dataclass(frozen=True)
class Place:
    """Where an attempt runs: what it was told, and what it shares with the attempts before.

    pattern: reads output by the user's own pattern, None where there is none. tasks: those of this node, where srun
    has started one for each rank.
    """

    options: Options
    folder: str
    archive: str
    pump: OutputPump
    recorders: RecorderReader
    pattern: Optional[PatternProcess] = None
    tasks: Optional[Tasks] = None


class Attempt:
    """The ranks of attempt ``number`` here. Times are CLOCK_BOOTTIME seconds."""

    def __init__(self, start: Command, grace_seconds: float) -> None:
        self._grace_seconds = grace_seconds
        self.number = start.attempt
        self.start = start
        self.ranks: List[Rank] = []
        self.stop_cause: Optional[str] = None
        self._failure = ""
        self._failure_local = 0
        self._failure_code = _CANNOT_START
        self._tree: Optional[RankTree] = None
        self._descendants = Descendants()
        self._options = Options(())
        self._failure_told: Optional[float] = None
        self._stop: Optional[stopping.Stop] = None
        self._leftovers = Leftovers()
        self._empty = False
        self._sampled = 0.0
        self._asked = 0.0
        self._suspects: Set[int] = set()
        self._dump_until = 0.0
        self._dumped: Optional[float] = None
        self._recorders: Optional[RecorderReader] = None
        self._pattern: Optional[PatternProcess] = None
        self._tasks: Optional[Tasks] = None

    def begin(self, place: Place, inherited: Mapping[str, str]) -> None:
        """Start every rank. When the command cannot be started, the attempt has failed and nothing is left running."""
        self._recorders, self._pattern, self._options = place.recorders, place.pattern, place.options
        self._tasks = place.tasks
        try:
            if place.options.processes == PER_WORKER:
                self._start_tree(place, inherited)
            else:
                for local in range(place.options.nproc):
                    self.ranks.append(self._start_rank(local, place, inherited))
        except Absent as error:
            self._failure_code = _NOT_ITS_FAULT
            self._fail(str(error.strerror), len(self.ranks))
            for rank in self.ranks:
                rank.kill_group()
        except OSError as error:
            self._fail(CANNOT_START % (place.options.command[0], error.strerror or error), len(self.ranks))
            for rank in self.ranks:
                rank.kill_group()

    @property
    def stage(self) -> str:
        """Stage of the wire format."""
        if self._empty:
            return STAGE_STOPPED
        return STAGE_RUNNING if self._stop is None else STAGE_STOPPING

    @property
    def worst_exit_code(self) -> int:
        """0 when every rank ended with 0, else the code of the first that failed."""
        if self._failure:
            return self._failure_code
        if self._tree is not None:
            return self._tree.exit_code
        codes = [rank.exit_code for rank in self.ranks]
        return next((code for code in codes if code), 0)

    def stop(self, cause: str, kill: bool, grace_seconds: float, now: float) -> None:
        """End all ranks; what is under way can only become faster."""
        if self._empty:
            return
        if self._stop is None:
            self._stop = stopping.Stop(now, grace_seconds, kill, cause)
            self.stop_cause = cause
        else:
            self._stop = stopping.harden(self._stop, kill, grace_seconds, now)
        self.press(now)

    def dump(self, now: float) -> None:
        """Take stacks of every rank for a short while, and have their flight recorders dumped."""
        self._dump_until, self._dumped = now + DUMP_SECONDS, now
        for rank in self.ranks:
            if not rank.exited and rank.recorder.ask():
                self._expect_dump(rank)

    def reap(self, pid: int, wait_status: int, now: float) -> Optional[Rank]:
        """A child was reaped: the rank that we had started as it; None for an adopted orphan, or a command."""
        if self._tree is not None:
            self._tree.reap(pid, wait_status, now)
            return None
        for rank in self.ranks:
            if rank.pid == pid and not rank.exited:
                rank.note_exit(wait_status, now)
                if rank.recorder.has_dump:
                    # torch's watchdog wrote it before it ended the rank.
                    self._expect_dump(rank)
                return rank
        return None

    def press(self, now: float) -> bool:
        """Send the signal that is due, if any; True when the last process has just gone."""
        if self._tree is not None and (self._stop is not None or self._tree.command_ended):
            self._tree.settle(kernel.processes(), now)
        all_exited = all(rank.exited for rank in self.ranks) if self._tree is None else self._tree.ended
        if self._empty or (self._stop is None and not all_exited):
            return False
        alive = self._survivors(kernel.processes())
        if all_exited:
            if not alive:
                self._note_empty()
                return True
            self._end_leftovers(now)
            if self._stop is not None and not self._stop.kill and self._leftovers.may_end(now):
                return False
            self._tell_leftovers(alive, now)
        signal_due = stopping.due(self._stop, now) if self._stop is not None else None
        if signal_due == stopping.SEND_KILL:
            self._kill(alive)
        elif signal_due == stopping.SEND_TERM and self._stop is not None:
            self._stop = dataclasses.replace(self._stop, term_sent=True)
            self._terminate(alive)
        return False

    def tick(self, deadlines: Mapping[str, float], now: float) -> bool:
        """Read heartbeats, samples and stacks that are due; True when the operator should hear of it at once."""
        running = [rank for rank in self.ranks if not rank.exited]
        # Stacks are collected before the kernel is asked, so that their bytes are never taken for the rank's own.
        news = [rank.look(now) for rank in running] + [rank.recorder.news() for rank in self.ranks]
        if now - self._sampled >= SAMPLE_SECONDS:
            self._sampled = now
            table = kernel.processes()
            news += [rank.sample(table, now) for rank in running]
            self._look_at_launch(table, now)
        if self._tree is not None:
            self._tree.take_ends()
            news.append(self._tree.news())
        return self._ask_stacks(running, deadlines, now) or any(news)

    def reports(self, now: float) -> List[RankReport]:
        """What the operator is told of each rank."""
        told = [rank.report(now) for rank in self.ranks]
        if not self._failure:
            return told
        self._failure_told = now if self._failure_told is None else self._failure_told
        failure = RankReport(
            self._options.worker * self._options.nproc + self._failure_local,
            self._failure_local,
            RANK_EXITED,
            exit_code=self._failure_code,
            # It explains the ends of the others, which may have been seen before.
            exit_age=max([now - self._failure_told] + [report.exit_age or 0.0 for report in told]),
            output_tail=[self._failure],
        )
        return [report for report in told if report.rank != failure.rank] + [failure]

    def histograms(self) -> Dict[str, durations.Histogram]:
        """Durations of all ranks here, by phase."""
        total: Dict[str, durations.Histogram] = {}
        for rank in self.ranks:
            durations.merge(total, rank.progress.histograms)
        return total

    def dump_age(self, now: float) -> Optional[float]:
        """Seconds since the last dump; None before the first."""
        return None if self._dumped is None else max(0.0, now - self._dumped)

    def unread_output_bytes(self) -> int:
        """Output of the ranks here that came too fast to be read for progress."""
        return sum(rank.told.unread_bytes() for rank in self.ranks)

    def wait_for_output(self, seconds: float) -> None:
        """Every process is gone; give the last lines this long to be passed on."""
        end = time.monotonic() + seconds
        for rank in self.ranks:
            rank.output.drained.wait(max(0.0, end - time.monotonic()))
        if self._tree is not None:
            self._tree.output.drained.wait(max(0.0, end - time.monotonic()))

    def close(self) -> None:
        """Let go of the ranks' files."""
        if self._tree is not None:
            self._tree.close()
        for rank in self.ranks:
            rank.close()

    def _start_tree(self, place: Place, inherited: Mapping[str, str]) -> None:
        folder = os.path.join(place.folder, "attempt-%d" % self.number)
        self._tree = RankTree(place.options, folder, place.pattern)
        self.ranks = self._tree.ranks
        self._tree.begin(self.start, place.archive, inherited, place.pump, place.recorders)

    def _look_at_launch(self, table: Dict[int, kernel.Process], now: float) -> None:
        """Nothing may start another number of ranks than the job has."""
        wrong = self._tree.look(table, now) if self._tree is not None else self._started_below(table, now)
        if wrong is not None and not self._failure:
            self._fail(wrong, 0)
            self.stop(STOP_ENDED, True, 0.0, now)

    def _started_below(self, table: Dict[int, kernel.Process], now: float) -> Optional[str]:
        """What is wrong with what the ranks have started, as long as they have not begun to train themselves."""
        below = {}
        for rank in self.ranks:
            trains = rank.progress.boundaries and rank.told.writer_pid in (None, rank.pid)
            if rank.pid is not None and not rank.exited and not trains:
                below[rank.number] = [entry for entry in kernel.tree(rank.pid, table) if entry.pid != rank.pid]
        places = self._descendants.places([entry for members in below.values() for entry in members], now)
        for number, members in below.items():
            mine = {entry.pid: places[entry.pid] for entry in members if entry.pid in places}
            wrong = misfit.under_one_rank(mine, number, self._options.workers, self._options.nproc)
            if wrong is not None:
                return wrong
        return None

    def _fail(self, why: str, local: int) -> None:
        self._failure, self._failure_local = why, local
        say(why)

    def _start_rank(self, local: int, place: Place, inherited: Mapping[str, str]) -> Rank:
        options = place.options
        number = options.worker * options.nproc + local
        files = RankFiles(os.path.join(place.folder, "attempt-%d-rank-%d" % (self.number, number)))
        if place.tasks is not None:
            inherited = place.tasks.variables(local)
        variables = rank_environment(options, self.start, local, files.variables(), place.archive, inherited)
        variables.update(recorder_variables(files.folder, variables))
        reads = options.heartbeat_source in environment.LOG_SOURCES
        targets = (1, 2) if place.tasks is None else place.tasks.outputs(local)
        output = RankOutput(RankLog(place.pattern) if reads else None, options.nproc, targets)
        try:
            if place.tasks is None:
                process = ranks.spawn(list(options.command), variables, output, die_with_parent())
            else:
                process = place.tasks.spawn(local, variables, output.write_ends)
        finally:
            output.close_write_ends()
        place.pump.add(output, whole_lines=options.prints_with_others)
        recorder = RankRecorder(number, variables)
        place.recorders.follow(recorder)
        return Rank(number, local, files, output, process, options.heartbeat_source, recorder)

    def _expect_dump(self, rank: Rank) -> None:
        if self._recorders is not None:
            self._recorders.expect(rank.recorder)

    def _ask_stacks(self, running: List[Rank], deadlines: Mapping[str, float], now: float) -> bool:
        """Ask suspects for stacks about once a second; True when somebody became or ceased to be a suspect, and
        when a round brought nothing (what it brings is reported as it comes).
        """
        suspects = running if now < self._dump_until else _overdue(running, deadlines)
        numbers = {rank.number for rank in suspects}
        changed, self._suspects = numbers != self._suspects, numbers
        if not suspects or (not changed and now - self._asked < STACK_SECONDS):
            return changed
        silent = not any(rank.stacks.answered for rank in suspects)
        self._asked = now
        for rank in suspects:
            rank.ask_stack()
        return changed or silent

    def _survivors(self, table: Dict[int, kernel.Process]) -> List[kernel.Process]:
        helper = self._pattern.pid if self._pattern is not None else None
        others = self._tasks.pids if self._tasks is not None else []
        return survivors([os.getpid()] + others, self._groups(), table, helper)

    def _groups(self) -> List[int]:
        if self._tree is not None:
            return self._tree.groups
        return [rank.pid for rank in self.ranks if rank.pid is not None]

    def _note_empty(self) -> None:
        self._empty = True
        if self.stop_cause is None:
            self.stop_cause = STOP_ENDED

    def _end_leftovers(self, now: float) -> None:
        """The ranks are gone, something that they started is not."""
        if self._stop is None:
            self.stop_cause = STOP_ENDED
            self._stop = stopping.Stop(now, self._grace_seconds, False, STOP_ENDED)
            self._leftovers.begin(now)
        elif self._stop.cause != STOP_ENDED:
            self._stop = stopping.harden(self._stop, False, LEFTOVER_SECONDS, now)

    def _tell_leftovers(self, alive: List[kernel.Process], now: float) -> None:
        codes = {rank.number: rank.exit_code or 0 for rank in self.ranks}
        groups = {rank.pid: rank.number for rank in self.ranks if rank.pid is not None}
        for line in self._leftovers.lines(alive, codes, groups, now):
            say(line)

    def _terminate(self, alive: List[kernel.Process]) -> None:
        for process in alive:
            signal_process(process, signal.SIGTERM)
            # A stopped process acts on TERM only when it is continued.
            signal_process(process, signal.SIGCONT)

    def _kill(self, alive: List[kernel.Process]) -> None:
        for rank in self.ranks:
            rank.kill_group()
        if self._tree is not None:
            self._tree.kill_group()
        for process in alive:
            signal_process(process, signal.SIGKILL)


def _overdue(running: List[Rank], deadlines: Mapping[str, float]) -> List[Rank]:
    """The ranks that are past their deadlines. Where lines of output tell progress, usually one rank prints for all:
    those that print nothing are as late as those that do.
    """
    overdue = [rank for rank in running if rank.overdue(deadlines)]
    telling = [rank for rank in running if rank.progress.source == environment.SOURCE_LOG]
    if not telling:
        return overdue
    late = any(rank in overdue for rank in telling)
    return [rank for rank in running if (late if rank.progress.source is None else rank in overdue)]
