"""The tasks of this node, as the one that speaks for it sees them."""

from __future__ import annotations

import errno
import os
import queue
import signal
import socket
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from hedgerow import machine, ranks
from hedgerow.log import say
from hedgerow.options import Options, UsageError
from hedgerow.slurm.address import meeting_place
from hedgerow.slurm.channel import Channel, Closed, Message, listen
from hedgerow.slurm.task import MEETING_SECONDS
from hedgerow.system_calls import die_with_parent

_ANSWER_SECONDS = 10.0
_LOOK_SECONDS = 0.05
# Whom we wait for is told after so long.
_TELL_SECONDS = 5.0
_ADDRESS_SECONDS = 5.0
_OWN = 0


class Absent(OSError):
    """What is to start a rank is not there, or serves no more; the text is a sentence."""

    def __init__(self, sentence: str) -> None:
        super().__init__(0, sentence)


class RemoteProcess:
    """A rank that another task has started, in place of Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: Optional[int] = None


class Tasks:
    """This task and the others of its node, by their local numbers."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._ended: Callable[[int, int], None] = lambda _pid, _status: None
        self._others: Dict[int, _Other] = {}
        self._started: Set[int] = set()
        self._come = threading.Condition()
        self._door: Optional[threading.Thread] = None
        self._server = _listen(options)

    def begin(self, ended: Callable[[int, int], None]) -> None:
        """Let the others come. ended: takes (process, status of wait(2)) of a rank that another task has reaped; it is
        called on other threads.
        """
        self._ended = ended
        self._door = threading.Thread(target=self._welcome, name="tasks", daemon=True)
        self._door.start()

    def gather(self, interrupted: Callable[[], bool], seconds: float = MEETING_SECONDS) -> None:
        """Wait until all tasks are there, so long at most, or until something else is to be done."""
        told = time.monotonic() + _TELL_SECONDS
        end = time.monotonic() + seconds
        with self._come:
            while self._missing() and time.monotonic() < end and not interrupted():
                self._come.wait(_LOOK_SECONDS)
                if self._missing() and time.monotonic() >= told:
                    told = float("inf")
                    say("task %s of this node has not come yet" % ", ".join(map(str, self._missing())))

    @property
    def complete(self) -> bool:
        """Whether every rank of this node could be started now."""
        with self._come:
            return not self._missing() and not any(other.gone for other in self._others.values())

    @property
    def pids(self) -> List[int]:
        """The processes that the ranks are children of, without this one."""
        with self._come:
            return [other.pid for other in self._others.values() if not other.gone]

    def variables(self, local: int) -> Mapping[str, str]:
        """What srun has given to that task. Raises Absent."""
        return machine.given_environment() if local == _OWN else self._other(local).variables

    def outputs(self, local: int) -> Tuple[int, int]:
        """Standard output and error of that task. Raises Absent."""
        return (1, 2) if local == _OWN else self._other(local).outputs

    def spawn(self, local: int, variables: Mapping[str, str], pipes: Sequence[int]) -> Any:
        """Start that task's rank. OSError when it cannot be started, Absent when that is not its command's fault."""
        if self._options.starts_once and local in self._started:
            raise Absent("srun --mpi=%s serves each task once; start its ranks by a new srun" % self._options.mpi)
        self._started.add(local)
        if local == _OWN:
            return ranks.spawn_as_given(list(self._options.command), variables, pipes, die_with_parent())
        return RemoteProcess(self._other(local).start(variables, pipes))

    def finish(self, code: int, ranks_here: Sequence[ranks.Rank]) -> int:
        """Let the others end with this code, and wait a moment until they have; the code to end with here.

        As srun sees it without us, each task ends as its rank did, unless the job has ended well.
        """
        with self._come:
            others = list(self._others.values())
        for other in others:
            other.finish(code)
        # Only that ends the thread that waits for more of them, and with it the hold on the address.
        self._server.shutdown(socket.SHUT_RDWR)
        if self._door is not None:
            self._door.join(_ANSWER_SECONDS)
        self._server.close()
        own = next((rank.exit_code for rank in ranks_here if rank.local == _OWN), None)
        return code and (own or code)

    def _missing(self) -> List[int]:
        return [local for local in range(1, self._options.nproc) if local not in self._others]

    def _other(self, local: int) -> "_Other":
        with self._come:
            other = self._others.get(local)
        rank = self._options.worker * self._options.nproc + local
        if other is None:
            raise Absent("task %d of this node (rank %d) has not come; srun has not started it here" % (local, rank))
        if other.gone:
            raise Absent("task %d of this node (rank %d) has ended, so that its rank cannot be started" % (local, rank))
        return other

    def _welcome(self) -> None:
        while True:
            try:
                sock, _address = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._attend, args=(sock,), name="task", daemon=True).start()

    def _attend(self, sock: socket.socket) -> None:
        channel = Channel(sock)
        pid, user = channel.peer
        try:
            if user != os.geteuid():
                raise Closed
            hello, outputs = channel.receive()
            other = _Other(channel, pid, hello, outputs, self._ended)
        except (Closed, KeyError, TypeError, ValueError):
            channel.close()
            return
        with self._come:
            self._others[int(hello["local"])] = other
            self._come.notify_all()
        other.listen()


class _Other:
    """Another task of this node. variables: as srun gave them to it; outputs: copies of its standard streams."""

    def __init__(
        self, channel: Channel, pid: int, hello: Message, outputs: List[int], ended: Callable[[int, int], None]
    ) -> None:
        self.pid = pid
        self.variables: Dict[str, str] = hello["variables"]
        out, err = outputs
        self.outputs = (out, err)
        self.gone = False
        self._channel = channel
        self._ended = ended
        self._rank: Optional[int] = None
        self._answers: "queue.SimpleQueue[Message]" = queue.SimpleQueue()
        self._left = threading.Event()

    def start(self, variables: Mapping[str, str], pipes: Sequence[int]) -> int:
        try:
            self._channel.send({"start": dict(variables)}, pipes)
            answer = self._answers.get(timeout=_ANSWER_SECONDS)
        except (Closed, queue.Empty):
            # Should it come to life again, it finds that nobody wants its rank.
            self._channel.close()
            raise Absent("the task that is to start it does not answer") from None
        if "error" in answer:
            raise OSError(*answer["error"])
        return int(answer["started"])

    def finish(self, code: int) -> None:
        try:
            self._channel.send({"finish": code})
        except Closed:
            return
        self._left.wait(_ANSWER_SECONDS)

    def listen(self) -> None:
        """Take what it says, until it has gone."""
        while True:
            try:
                message, _none = self._channel.receive()
            except Closed:
                break
            if "started" in message:
                self._rank = int(message["started"])
            if "ended" in message:
                self._rank = None
                self._ended(int(message["ended"]), int(message["status"]))
            else:
                self._answers.put(message)
        self._channel.close()
        self.gone = True
        self._left.set()
        self._answers.put({"error": [0, "the task that was to start it has ended"]})
        if self._rank is not None:
            # It dies with its task.
            self._ended(self._rank, int(signal.SIGKILL))


def _listen(options: Options) -> socket.socket:
    """Whoever listened before may need a moment to be gone."""
    end = time.monotonic() + _ADDRESS_SECONDS
    while True:
        try:
            return listen(meeting_place(options))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise UsageError("the tasks of this node cannot meet: %s" % (error.strerror or error)) from None
            if time.monotonic() >= end:
                step = options.step.name if options.step is not None else ""
                raise UsageError("another launcher speaks for this node of step %s already" % step) from None
        time.sleep(_LOOK_SECONDS)
