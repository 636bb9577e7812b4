"""Training in small, whose rank 1 really suffers the fault that FAULT names, at step FAULTY_STEP of attempt 1."""

import itertools
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections import deque

sys.path.insert(0, os.environ["QUICKSTART"])
import checkpoint
from gang import Gang

import hedgerow

SAVE_EVERY, FAULTY_STEP = 10, int(os.environ.get("FAULTY_STEP", "23"))
STEPS, REDUCE_EVERY = int(os.environ.get("STEPS", "40")), int(os.environ.get("REDUCE_EVERY", "1"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0.1"))
WORK_SECONDS = float(os.environ.get("WORK_SECONDS", "0"))  # of a processor
FOLDER, FAULT = os.environ["CHECKPOINT_DIRECTORY"], os.environ["FAULT"]
SHARED = FOLDER + "-data"


def lock() -> None:
    """A lock that is taken twice."""
    guard = threading.Lock()
    guard.acquire()
    guard.acquire()


def loop() -> None:
    """An endless loop in C, which never gives the interpreter lock away."""
    deque(itertools.repeat(0), maxlen=0)


def pipe() -> None:
    """Writing to a pipe that nobody reads."""
    _reads, writes = os.pipe()
    with os.fdopen(writes, "wb") as file:
        file.write(bytes(1 << 20))


def stop() -> None:
    """SIGSTOP."""
    os.kill(os.getpid(), signal.SIGSTOP)


def kill() -> None:
    """SIGKILL, as the kernel does it when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def memory() -> None:
    """More memory than the process may have."""
    used = 200 << 20
    resource.setrlimit(resource.RLIMIT_AS, (2 * used, 2 * used))
    bytearray(4 * used)


def storage() -> None:
    """The folder of the data is deleted while it is open, as it happens on a network file system."""
    folder = os.open(SHARED, os.O_RDONLY)
    shutil.rmtree(SHARED)
    os.open("batch", os.O_RDONLY, dir_fd=folder)


def everything() -> None:
    """The same, and the checkpoints are gone with it."""
    shutil.rmtree(FOLDER)
    storage()


def everywhere() -> None:
    """The same exception on every rank, in every attempt."""
    raise KeyError("no such column: price")


def slow() -> None:
    """From here on it shares one core with processes that never rest, as where somebody else uses the node."""
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    os.nice(19)  # the other ranks, and whatever else this machine does, go first
    for _ in range(16):
        if os.fork() == 0:
            while True:
                pass


def outside() -> None:
    """Nothing: somebody else does it."""


def compute() -> None:
    """The work of one step: so much time of a processor, and time in which something else works."""
    until = time.thread_time() + WORK_SECONDS
    while time.thread_time() < until:
        pass
    time.sleep(STEP_SECONDS)


def suffers(rank: int, step: int) -> bool:
    """Whether it happens here and now."""
    if FAULT == "everywhere":
        return step == FAULTY_STEP
    return rank == 1 and step == FAULTY_STEP and os.environ["HEDGEROW_ATTEMPT"] == "1"


def main() -> None:
    start, parameters = 0, [0.0] * 8
    resume_from = os.environ.get("HEDGEROW_RESUME_FROM")
    if resume_from:
        start, parameters = checkpoint.load(resume_from)
    os.makedirs(SHARED, exist_ok=True)
    gang = Gang()
    for step in range(start + 1, STEPS + 1):
        if suffers(gang.rank, step):
            globals()[FAULT]()
        compute()
        hedgerow.beat(step=step)
        if step % REDUCE_EVERY == 0:
            parameters = gang.all_reduce(parameters)
        if gang.rank == 0 and step % SAVE_EVERY == 0:
            checkpoint.save(FOLDER, step, parameters)


if __name__ == "__main__":
    main()
