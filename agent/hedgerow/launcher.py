"""``hedgerow run``: the worker's entry point. One loop owns all state; every other thread only sends it events."""

from __future__ import annotations

import functools
import os
import queue
import secrets
import shutil
import signal
import sys
import time
from typing import Any, Callable, List, Mapping, Optional, Union

from hedgerow import environment, fence, leaving, machine, pack, reports, system_calls, wire
from hedgerow.attempt import Attempt, Place
from hedgerow.held_start import HeldStart
from hedgerow.log import say, tell
from hedgerow.logs import launcher_lines
from hedgerow.membership import Membership
from hedgerow.options import MOVE_ASIDE, Options, Unwatchable, UsageError, parse
from hedgerow.output import OutputPump
from hedgerow.pattern_process import PatternProcess
from hedgerow.recorder import RecorderReader
from hedgerow.reporter import Delivery, Reporter
from hedgerow.scanner import Cleared, Scanner
from hedgerow.slurm import bare, task
from hedgerow.slurm.tasks import Tasks

TICK_SECONDS = 0.25
STOPPING_TICK_SECONDS = 0.02
SCAN_SECONDS = 5.0
# Longest wait for the last report and the last output.
OWN_GRACE_SECONDS = 2.0
# And for what ranks that have ended wrote last, before the operator hears of their end.
_OUTPUT_WAIT_SECONDS = 1.0
_USAGE = 2
# Passing output on waits for the thread that reads it no longer than this at a time.
_SWITCH_SECONDS = 0.0005


class Launcher:
    """The launcher of one worker."""

    def __init__(self, options: Options, place: Place) -> None:
        self._options = options
        self._place = place
        self._events: "queue.SimpleQueue[Callable[[], None]]" = queue.SimpleQueue()
        self._attempt: Optional[Attempt] = None
        self._deadlines: Mapping[str, float] = {}
        self._seq = 0
        self._answered_seq = 0
        self._heard = machine.boottime()
        self._ticked = 0.0
        self._free_port = 0
        self._nonce = secrets.token_hex(16) if options.worker == 0 else ""
        self._scan: Optional[wire.CheckpointScan] = None
        self._scan_due = 0.0
        self._held = HeldStart(self._clear_checkpoints)
        self._set_aside: List[str] = []
        self._signalled = False
        self._finish_code: Optional[int] = None
        self._leaving: Optional[_Leaving] = None
        self._exit_code: Optional[int] = None
        address = options.address or machine.outward_address()
        self._membership = Membership(options, address)
        self._constant = reports.constant_part(options, secrets.token_hex(8), address, self._membership.address)
        self._reporter = Reporter(options, self._ask_report, lambda answer: self._send(self._on_answer, answer))
        self._scanner: Optional[Scanner] = None
        if options.checkpoint_directory:
            self._scanner = Scanner(
                options.checkpoint_directory, options.checkpoint_verify, lambda found: self._send(self._on_scan, found)
            )

    def run(self) -> int:
        """Run until there is nothing more to do; the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # What was ignored when we started (nohup) stays so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda _number, _frame: self._send(self._on_signal))
        signal.signal(signal.SIGCHLD, lambda _number, _frame: self._send(self._on_child))
        if self._options.step is not None:
            task.let_user_signals_pass()
        if self._place.tasks is not None:
            self._place.tasks.begin(lambda pid, status: self._send(self._on_end, pid, status))
            self._place.tasks.gather(lambda: not self._events.empty())
        self._place.pump.start()
        self._place.recorders.start()
        if self._options.has_operator:
            self._begin_reporting()
        else:
            port = machine.free_port(self._options.master_port)
            self._start(wire.Command(wire.COMMAND_START, 1, master_address="127.0.0.1", master_port=port))
        while self._exit_code is None:
            self._turn()
        if self._attempt is not None:
            self._attempt.wait_for_output(OWN_GRACE_SECONDS)
        self._membership.close()
        if self._place.tasks is not None:
            return self._place.tasks.finish(self._exit_code, self._attempt.ranks if self._attempt is not None else ())
        return self._exit_code

    def _begin_reporting(self) -> None:
        options = self._options
        self._membership.serve()
        if self._scanner is not None:
            self._scanner.start()
            self._scanner.look(True, 0)
        tell(launcher_lines.READY % (options.worker, options.workers, options.nproc))
        self._reporter.start()

    def _turn(self) -> None:
        try:
            event: Optional[Callable[[], None]] = self._events.get(timeout=self._pause())
        except queue.Empty:
            event = None
        now = machine.boottime()
        # Before anything else: the machine may have been suspended for long.
        self._guard(now)
        if event is not None:
            _shielded(event)
        if now - self._ticked >= self._pause():
            self._ticked = now
            _shielded(functools.partial(self._tick, now))
        self._leave_if_done(now)

    def _pause(self) -> float:
        stopping = self._attempt is not None and self._attempt.stage == wire.STAGE_STOPPING
        return STOPPING_TICK_SECONDS if stopping else TICK_SECONDS

    def _guard(self, now: float) -> None:
        """Kill the ranks when nobody has confirmed the attempt for too long."""
        attempt = self._running()
        if attempt is None or not self._options.has_operator or attempt.stop_cause == wire.STOP_FENCE:
            return
        decision = self._membership.decide(now)
        if decision == fence.FENCE:
            say(launcher_lines.FENCED % attempt.number)
            self._stop(wire.STOP_FENCE, True, 0.0)
        elif decision == fence.ASK_PEERS:
            self._membership.ask(now, lambda peer, word: self._send(self._membership.take, peer, word))

    def _tick(self, now: float) -> None:
        attempt = self._running()
        if attempt is not None:
            urgent = attempt.tick(self._deadlines, now)
            if attempt.press(now):
                tell(launcher_lines.ALL_ENDED % attempt.number)
                self._look_at_checkpoints()
                urgent = True
            if urgent:
                self._reporter.report_now()
        if self._scanner is not None and now >= self._scan_due and not self._scanner.waiting:
            self._scan_due = now + SCAN_SECONDS
            self._look_at_checkpoints()

    # Events, each on the main thread.

    def _send(self, handler: Callable[..., None], *arguments: Any) -> None:
        self._events.put(functools.partial(handler, *arguments))

    def _on_child(self) -> None:
        until = time.monotonic() + _OUTPUT_WAIT_SECONDS
        for pid, status in _reaped():
            self._note_end(pid, status, until)
        self._ticked = 0.0

    def _on_end(self, pid: int, status: int) -> None:
        """Another task of this node has reaped its rank."""
        self._note_end(pid, status, time.monotonic() + _OUTPUT_WAIT_SECONDS)
        self._ticked = 0.0

    def _note_end(self, pid: int, status: int, until: float) -> None:
        rank = self._attempt.reap(pid, status, machine.boottime()) if self._attempt is not None else None
        if rank is None:
            return
        if self._attempt is not None and self._attempt.stage == wire.STAGE_RUNNING:
            # What it said last is its last step, or explains why it ended.
            rank.output.settle(until)
        tell(launcher_lines.RANK_ENDED % (rank.number, rank.exit_code or 0))
        self._reporter.report_now()

    def _on_signal(self) -> None:
        first, self._signalled = not self._signalled, True
        if self._running() is not None:
            tell(launcher_lines.ASKED_TO_END if first else launcher_lines.ASKED_AGAIN)
            # Who asks gives us some seconds more than the ranks, for our own last report.
            self._stop(wire.STOP_SIGNAL, not first, self._options.grace_seconds)

    def _on_scan(self, found: Union[wire.CheckpointScan, Cleared]) -> None:
        if isinstance(found, Cleared):
            self._on_cleared(found)
        elif found != self._scan:
            self._scan = found
            self._reporter.report_now()

    def _on_cleared(self, cleared: Cleared) -> None:
        for line in cleared.lines:
            say(line)
        order = self._held.cleared(*cleared)
        if order is not None and self._may_start(order.command, order.sent):
            self._membership.join(order.command, order.sent)
            self._start(order.command)

    def _on_answer(self, delivery: Delivery) -> None:
        answer = delivery.answer
        self._heard = machine.boottime()
        if answer.current:
            self._membership.confirm(delivery.attempt, delivery.sent)
        if delivery.seq > self._answered_seq:
            self._answered_seq = delivery.seq
            self._deadlines = answer.deadlines
            self._held.withdraw_unless(answer.commands)
        for command in answer.commands:
            self._obey(command, delivery.sent)

    def _obey(self, command: wire.Command, sent: float) -> None:
        running = self._running()
        if command.kind == wire.COMMAND_START:
            if self._may_start(command, sent):
                self._begin(command, sent)
        elif command.kind == wire.COMMAND_STOP:
            if running is not None and command.attempt >= running.number:
                self._stop(wire.STOP_COMMAND, command.kill, command.grace_seconds, command.reason)
        elif command.kind == wire.COMMAND_DUMP:
            if running is not None and command.attempt == running.number:
                running.dump(machine.boottime())
        elif command.kind == wire.COMMAND_FINISH:
            self._finish_code = command.exit_code
            if running is not None:
                self._stop(wire.STOP_COMMAND, False, self._options.grace_seconds)
        else:
            say("the operator asks for %r, which this launcher does not know" % command.kind)

    # Actions

    def _begin(self, command: wire.Command, sent: float) -> None:
        if self._scanner is not None and self._options.checkpoint_on_invalid == MOVE_ASIDE:
            self._held.hold(command, sent)
            return
        self._membership.join(command, sent)
        self._start(command)

    def _clear_checkpoints(self, attempt: int, chosen: Optional[str]) -> None:
        if self._scanner is not None:
            self._scanner.clear(attempt, chosen, self._options.worker)

    def _start(self, command: wire.Command) -> None:
        if self._attempt is not None:
            self._attempt.close()
        resume = " from %s" % command.resume_from if command.resume_from else ""
        tell(launcher_lines.STARTS % (command.attempt, resume))
        self._deadlines = {} if self._attempt is not None else self._deadlines
        self._set_aside = self._held.take_lines()
        self._attempt = Attempt(command, self._options.grace_seconds)
        self._attempt.begin(self._place, machine.given_environment())
        self._free_port = 0
        self._reporter.report_now()

    def _stop(self, cause: str, kill: bool, grace: float, reason: str = "") -> None:
        attempt = self._running()
        if attempt is None:
            return
        if attempt.stage == wire.STAGE_RUNNING and cause == wire.STOP_COMMAND:
            tell(launcher_lines.STOPPED % (attempt.number, ": " + reason if reason else ""))
        self._membership.leave()
        attempt.stop(cause, kill, grace, machine.boottime())
        self._reporter.report_now()

    def _look_at_checkpoints(self) -> None:
        if self._scanner is not None:
            self._scanner.look(self._running() is None, self._begun())

    def _leave_if_done(self, now: float) -> None:
        if self._running() is not None:
            return
        code = leaving.exit_code(self._situation(now))
        if code is None:
            return
        if self._leaving is None:
            self._leaving = _Leaving(self._seq, now + OWN_GRACE_SECONDS)
            self._reporter.report_now()
        told = not self._options.has_operator or self._reporter.sent_seq > self._leaving.after_seq
        if told or now >= self._leaving.until:
            self._exit_code = code

    def _situation(self, now: float) -> leaving.Situation:
        attempt = self._attempt
        return leaving.Situation(
            has_operator=self._options.has_operator,
            finish_code=self._finish_code,
            signalled=self._signalled,
            began=attempt is not None,
            worst_exit_code=attempt.worst_exit_code if attempt is not None else 0,
            silence=now - self._heard,
        )

    # Facts

    def _running(self) -> Optional[Attempt]:
        """The attempt of which something is alive here."""
        attempt = self._attempt
        return attempt if attempt is not None and attempt.stage != wire.STAGE_STOPPED else None

    def _begun(self) -> int:
        return self._attempt.number if self._attempt is not None else 0

    def _may_start(self, command: wire.Command, sent: float) -> bool:
        return self._running() is None and command.attempt > self._begun() and not self._is_late(sent)

    def _is_late(self, sent: float) -> bool:
        return self._signalled or self._finish_code is not None or self._membership.too_old(sent, machine.boottime())

    def _ask_report(self) -> wire.Report:
        """Called on a sending thread: the loop builds the report, so that it is of one moment."""
        box: "queue.SimpleQueue[wire.Report]" = queue.SimpleQueue()
        self._send(lambda: box.put(self._report()))
        return box.get()

    def _report(self) -> wire.Report:
        self._seq += 1
        if self._options.worker == 0 and self._running() is None:
            self._free_port = machine.free_port(self._options.master_port or self._free_port)
        scan = self._scanner.silence(machine.boottime()) if self._scanner is not None else None
        if self._place.tasks is not None:
            self._constant["once"] = self._options.starts_once or not self._place.tasks.complete
        return reports.build(
            self._constant, self._seq, self._attempt, scan or self._scan, self._free_port, self._nonce, self._set_aside
        )


def _shielded(action: Callable[[], None]) -> None:
    """A fault of ours is told, and must not end the training."""
    try:
        action()
    except Exception as error:  # noqa: BLE001
        say("fault in the launcher, which goes on: %r" % error)


class _Leaving:
    def __init__(self, after_seq: int, until: float) -> None:
        self.after_seq = after_seq
        self.until = until


def _reaped() -> Any:
    """The children that have ended, adopted orphans among them: (pid, status) each."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def main(arguments: List[str]) -> int:
    """``hedgerow run`` with ``arguments`` (those after ``run``); the exit code."""
    try:
        options = parse(arguments, os.environ)
        if options.per_task and options.step is not None and options.step.local:
            return task.serve(options)
        folder = machine.free_space(options.temporary)
        if folder is None:
            raise UsageError("no folder can be written to for small files; set HEDGEROW_TMP to one")
    except Unwatchable as error:
        return bare.run(str(error), arguments)
    except UsageError as error:
        say(str(error))
        return _USAGE
    try:
        sys.setswitchinterval(_SWITCH_SECONDS)
        return Launcher(options, _place(options, folder)).run()
    except UsageError as error:
        say(str(error))
        return _USAGE
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _place(options: Options, folder: str) -> Place:
    archive = pack.archive_of_this_package()
    if archive is None:
        # The folder of an installed package holds other packages too, which must not reach the ranks.
        archive = os.path.join(folder, "hedgerow.pyz")
        pack.write(archive)
    if not system_calls.adopt_orphans():
        say("processes that leave their group cannot be followed here (no prctl)")
    reads = options.log_pattern and options.heartbeat_source in environment.LOG_SOURCES
    pattern = PatternProcess(options.log_pattern, archive) if reads else None
    tasks = Tasks(options) if options.per_task else None
    return Place(options, folder, archive, OutputPump(), RecorderReader(), pattern, tasks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
