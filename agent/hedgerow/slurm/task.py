"""A task of a step that does not speak for its node: it starts its rank when the speaker says so, and tells its end.

The rank is started here and not by the speaker, as what srun has given to this task goes on to it: its variables, its
descriptors (PMI_FD), its binding to processors and GPUs, its standard input.
"""

from __future__ import annotations

import os
import selectors
import signal
import time
from typing import Any, Callable, Dict, List, Optional

from hedgerow import kernel, machine, ranks, system_calls
from hedgerow.log import say
from hedgerow.options import Options
from hedgerow.signalling import signal_process
from hedgerow.slurm.address import meeting_place
from hedgerow.slurm.channel import Channel, Closed, connect
from hedgerow.survivors import survivors

# srun starts all tasks of a step at once; a node under load may need its time.
MEETING_SECONDS = 60.0
_RETRY_SECONDS = 0.05
_LOST = 1
# Those that end a process, and that Slurm sends to every process of a step, the ranks too (scancel --signal).
_OF_USERS = (signal.SIGUSR1, signal.SIGUSR2)
# What ends is up to the speaker, which gets these too.
_OF_SPEAKER = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def let_pass(numbers: Any) -> None:
    """Take signals without a consequence; what is started later has them as it would have without us."""
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: None)


def let_user_signals_pass() -> None:
    """Those that are meant for the ranks."""
    let_pass(_OF_USERS)


def serve(options: Options) -> int:
    """Be the task until the speaker says with which code to end, or has gone."""
    let_user_signals_pass()
    let_pass(_OF_SPEAKER)
    system_calls.adopt_orphans()
    channel = _meet(meeting_place(options), time.monotonic() + MEETING_SECONDS)
    if channel is None:
        say("the first task of this node, which speaks for it, has not come within %d s" % MEETING_SECONDS)
        return _LOST
    return Task(options, channel).run()


def _meet(name: str, until: float) -> Optional[Channel]:
    """The channel to the task that speaks for this node; None when it has not come in time."""
    while True:
        try:
            return connect(name)
        except OSError:
            if time.monotonic() >= until:
                return None
            time.sleep(_RETRY_SECONDS)


class Task:
    """One rank, or none yet, and who commands it."""

    def __init__(self, options: Options, channel: Channel) -> None:
        self._command = list(options.command)
        self._local = options.step.local if options.step is not None else 0
        self._channel = channel
        self._rank: Optional[int] = None
        self._rank_code = 0
        self._exit_code: Optional[int] = None

    def run(self) -> int:
        """The code to end with."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        selector = selectors.DefaultSelector()
        selector.register(wake_read, selectors.EVENT_READ, lambda: self._reap(os.read(wake_read, 4096)))
        selector.register(self._channel.fileno(), selectors.EVENT_READ, self._obey)
        try:
            self._channel.send({"local": self._local, "variables": machine.given_environment()}, (1, 2))
            while self._exit_code is None:
                for key, _events in selector.select():
                    action: Callable[[], None] = key.data
                    action()
        except Closed:
            self._end_all()
            return _LOST
        return self._exit_code

    def _obey(self) -> None:
        message, descriptors = self._channel.receive()
        try:
            if "start" in message:
                self._channel.send(self._start(message["start"], descriptors))
            elif "finish" in message:
                code = int(message["finish"])
                self._exit_code = code and (self._rank_code or code)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _start(self, variables: Dict[str, str], pipes: List[int]) -> Dict[str, Any]:
        try:
            process = ranks.spawn_as_given(self._command, variables, pipes, system_calls.die_with_parent())
        except OSError as error:
            return {"error": [error.errno, error.strerror]}
        # It is reaped here as every child is, whatever it was; Popen must not look for it.
        process.returncode = 0
        self._rank = process.pid
        return {"started": self._rank}

    def _reap(self, _woken: bytes) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._rank:
                self._rank = None
                code = ranks.exit_status(status)
                self._rank_code = code if code >= 0 else 128 - code
                self._channel.send({"ended": pid, "status": status})

    def _end_all(self) -> None:
        """Nobody is left who would end the rank, or report of it."""
        groups = [] if self._rank is None else [self._rank]
        if groups:
            say("the task that speaks for this node has ended; the rank here is killed")
            ranks.kill_group(groups[0])
        for process in survivors([os.getpid()], groups, kernel.processes()):
            signal_process(process, signal.SIGKILL)
