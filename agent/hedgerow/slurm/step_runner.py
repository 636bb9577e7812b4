"""Stands in the place of ``srun`` in a script that ``hedgerow sbatch`` looks after: starts it, again if it has to be.

For the script one srun runs, however often its ranks are started anew. What to start, and when it is over, is said by
the supervisor of the batch job over a unix socket (one JSON object a line). Without a supervisor srun runs as it is.
"""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
from typing import Any, Callable, Dict, List, Optional

from hedgerow import pack
from hedgerow.log import say
from hedgerow.slurm import srun_line, srun_shim

# Arguments of srun, and its variables -> arguments with the launcher before the user's program; None: there is nothing
# to watch.
WithLauncher = Callable[[List[str], Dict[str, str]], Optional[List[str]]]

_SIGNALLED = 128
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT")
# What a user ends a step by: it is not started again then.
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_LONGEST_LINE = 1 << 20


class StepRunner:
    """One call of srun. arguments: the user's own."""

    def __init__(self, desk: socket.socket, srun: str, arguments: List[str], with_launcher: WithLauncher) -> None:
        self._desk = desk
        self._srun = srun
        self._arguments = arguments
        self._with_launcher = with_launcher
        self._child: Optional["subprocess.Popen[bytes]"] = None
        self._code = 1
        self._ended_by_user = False
        self._received = b""
        self._exit_code: Optional[int] = None
        self._alone = False
        self._wakes, self._woken = os.pipe()

    def run(self, program: List[str]) -> int:
        """The exit code that srun has for the script."""
        self._watch_signals()
        self._tell({"hello": {"program": program, "pid": os.getpid(), "arguments": self._arguments}})
        while self._exit_code is None:
            self._turn()
        return self._exit_code

    def _watch_signals(self) -> None:
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wakes, False)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        for name in _PASSED_ON + ("SIGCHLD",):
            number = getattr(signal, name)
            # What was ignored when we started stays so, for srun too.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda _number, _frame: None)

    def _turn(self) -> None:
        waiting = [self._wakes] if self._alone else [self._wakes, self._desk.fileno()]
        ready, _, _ = select.select(waiting, [], [])
        if self._wakes in ready:
            for number in os.read(self._wakes, 4096):
                self._signalled(number)
        if not self._alone and self._desk.fileno() in ready:
            self._hear()

    def _signalled(self, number: int) -> None:
        child = self._child
        if number == signal.SIGCHLD:
            if child is not None and child.poll() is not None:
                self._child = None
                self._ended(child.returncode)
            return
        self._ended_by_user |= signal.Signals(number).name in _ENDING
        if child is not None:
            child.send_signal(number)
        elif self._ended_by_user:
            self._exit_code = _SIGNALLED + number

    def _ended(self, status: int) -> None:
        self._code = _SIGNALLED - status if status < 0 else status
        self._tell({"ended": {"code": self._code, "by_user": self._ended_by_user}})
        if self._alone:
            self._exit_code = self._code

    def _hear(self) -> None:
        try:
            data = self._desk.recv(1 << 16)
        except OSError:
            data = b""
        if not data or len(self._received) > _LONGEST_LINE:
            self._leave_alone()
            return
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line.decode()))

    def _obey(self, message: Dict[str, Any]) -> None:
        if "start" in message:
            self._start(**message["start"])
        if "signal" in message and self._child is not None:
            self._child.send_signal(message["signal"])
        if "exit" in message:
            self._exit_code = message["exit"]

    def _start(self, variables: Dict[str, str], options: List[str], watched: bool = True) -> None:
        given = dict(os.environ, **variables)
        arguments = self._with_launcher(self._arguments, given) if watched else None
        if arguments is None:
            given = dict(os.environ, HEDGEROW="off")
        words = [self._srun] + options + (self._arguments if arguments is None else arguments)
        try:
            self._child = subprocess.Popen(words, env=given)
        except OSError as error:
            say("%s cannot be started: %s" % (self._srun, error.strerror or error))
            self._ended(127)
            return
        self._tell({"started": {"pid": self._child.pid, "watched": arguments is not None}})

    def _leave_alone(self) -> None:
        """The supervisor is gone: what runs runs to its end."""
        self._alone = True
        if self._child is None:
            self._exit_code = self._code

    def _tell(self, message: Dict[str, Any]) -> None:
        if not self._alone:
            try:
                self._desk.sendall(json.dumps(message).encode() + b"\n")
            except OSError:
                self._alone = True


def socket_name(job_id: str) -> str:
    """Of the supervisor's socket in its folder."""
    return "steps-%s" % job_id


def run_step(arguments: List[str], srun: str) -> int:
    """Run srun with these arguments of the user's as the supervisor says; the exit code."""
    path = os.environ[srun_shim.STEPS]
    if os.path.basename(path) != socket_name(os.environ.get("SLURM_JOB_ID", "")):
        # Left over from the batch job that has submitted this one.
        os.execv(srun, [srun] + arguments)  # noqa: S606 (the user's own command)
    desk = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        desk.connect(path)
    except OSError as error:
        say("the supervisor of this job cannot be asked (%s); the step runs unwatched" % (error.strerror or error))
        os.execv(srun, [srun] + arguments)  # noqa: S606 (the user's own command)
    more = srun_shim.learn(arguments, srun, dict(os.environ))
    runner = StepRunner(desk, srun, arguments, functools.partial(_with_launcher, more))
    return runner.run(srun_line.program_of(arguments, more))


def _with_launcher(more: Dict[str, int], arguments: List[str], variables: Dict[str, str]) -> Optional[List[str]]:
    archive = pack.archive_of_this_package()
    if archive is None:
        return None
    launcher = srun_line.launcher_words(sys.executable, archive)
    found = srun_line.with_launcher(arguments, launcher, variables, srun_shim.mounts(archive, variables), more)
    return None if found == arguments else found
