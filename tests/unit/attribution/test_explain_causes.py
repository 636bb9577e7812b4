"""Failures with a cause of their own: the first of them counts, not the loudest."""

import pytest

from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.log.event import EventKind
from tests.unit.attribution.reading import elastic, explained, traceback, watchdog

APPLICATION, HARDWARE, NETWORK = FaultClass.APPLICATION, FaultClass.HARDWARE, FaultClass.NETWORK
STORAGE, SCHEDULER, UNKNOWN = FaultClass.STORAGE, FaultClass.SCHEDULER, FaultClass.UNKNOWN
RESET = "torch.distributed.DistBackendError: NCCL error in ProcessGroupNCCL, ncclRemoteError: remote process exited"

# Each: the log, the suspects, the class, the kind of the first failure and its rank.
CAUSES = {
    "an exception of one rank, and the errors of the others that follow": (
        traceback("KeyError: 'labels'", "[rank3]: ") + traceback(RESET, "[rank1]: ") + elastic(3, 1),
        (3,), APPLICATION, EventKind.EXCEPTION, 3,
    ),
    "an exception without a rank that torchrun names": (
        traceback("KeyError: 'labels'") + elastic(5, 1), (5,), APPLICATION, EventKind.EXCEPTION, None,
    ),
    "the memory of a device, then the watchdogs of those who wait": (
        traceback("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "[rank2]: ")
        + watchdog(0, 8000) + watchdog(1, 8000),
        (2,), APPLICATION, EventKind.OUT_OF_MEMORY, 2,
    ),
    "the memory of a host": (
        "[12345.678] Out of memory: Killed process 4711 (python) total-vm:1kB\n" + elastic(6, -9),
        (6,), APPLICATION, EventKind.OUT_OF_MEMORY, None,
    ),
    "a killed rank that nothing explains": (elastic(6, -9), (6,), UNKNOWN, EventKind.EXIT, 6),
    "a rank killed first, although watchdogs speak before the summary": (
        watchdog(0, 70) + watchdog(1, 70) + elastic(2, -9), (2,), UNKNOWN, EventKind.EXIT, 2,
    ),
    "a crash in native code": (elastic(4, -11), (4,), APPLICATION, EventKind.EXIT, 4),
    "a storage that is gone on two ranks": (
        traceback("OSError: [Errno 116] Stale file handle: '/data/shard-17'", "[rank5]: ")
        + traceback("OSError: [Errno 116] Stale file handle: '/data/shard-17'", "[rank6]: "),
        (5, 6), STORAGE, EventKind.EXCEPTION, 5,
    ),
    "memory of a device that cannot be corrected": (
        traceback("RuntimeError: CUDA error: uncorrectable ECC error encountered", "[rank7]: ") + watchdog(1, 9000),
        (7,), HARDWARE, EventKind.EXCEPTION, 7,
    ),
    "an assertion of a kernel": (
        traceback("RuntimeError: CUDA error: device-side assert triggered", "[rank7]: "),
        (7,), APPLICATION, EventKind.EXCEPTION, 7,
    ),
    "a device that fell off the bus": (
        "kernel: NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.\n" + watchdog(0, 90) ,
        (), HARDWARE, EventKind.EXCEPTION, None,
    ),
    "a task of srun that ended first": (
        "srun: error: node2: task 3: Exited with exit code 2\nsrun: error: node1: tasks 0-1: Terminated\n",
        (3,), UNKNOWN, EventKind.EXIT, 3,
    ),
    "a task of srun that is a torchrun, no rank": (
        "srun: error: node2: task 1: Exited with exit code 1\n" + elastic(9, -9), (9,), UNKNOWN, EventKind.EXIT, None,
    ),
    "a task of srun without memory": (
        "srun: error: node2: task 3: Out Of Memory\n", (3,), APPLICATION, EventKind.OUT_OF_MEMORY, 3,
    ),
    "memory of a host, told by Slurm for the step and then for the task": (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=9.0. Some of the step tasks have been OOM Killed.\n"
        "srun: error: node2: task 3: Out Of Memory\n",
        (3,), APPLICATION, EventKind.OUT_OF_MEMORY, None,
    ),
    "a rank of mpirun": (
        "mpirun noticed that process rank 5 with PID 0 on node n3 exited on signal 9 (Killed).\n",
        (5,), UNKNOWN, EventKind.EXIT, 5,
    ),
    "a time limit": (
        "slurmstepd: error: *** JOB 71 ON n1 CANCELLED AT 2025-01-01T00:00:00 DUE TO TIME LIMIT ***\n"
        "3: [rank: 3] Received SIGTERM: 15\n" + traceback("RuntimeError: stopped", "[rank3]: "),
        (), SCHEDULER, EventKind.EXIT, None,
    ),
    "a node that the scheduler lost": (
        "slurmstepd: error: *** STEP 71.0 ON n1 CANCELLED AT 2025-01-01T00:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD "
        "LOG FOR DETAILS ***\n",
        (), HARDWARE, EventKind.EXIT, None,
    ),
    "an exception, and the job that is ended because of it": (
        traceback("ValueError: bad batch", "[rank3]: ")
        + "slurmstepd: error: *** STEP 71.0 ON n1 CANCELLED AT 2025-01-01T00:00:00 ***\n",
        (3,), APPLICATION, EventKind.EXCEPTION, 3,
    ),
    "another exception on the second rank": (
        traceback("ValueError: bad batch", "[rank3]: ") + traceback("KeyError: 'x'", "[rank4]: "),
        (3,), APPLICATION, EventKind.EXCEPTION, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("log", "suspects", "fault_class", "kind", "rank"), CAUSES.values(), ids=CAUSES)
def test_the_first_failure_is(
    log: str, suspects: tuple[int, ...], fault_class: FaultClass, kind: EventKind, rank: int | None
) -> None:
    explanation = explained(log)

    assert explanation.first_failure is not None
    assert (explanation.first_failure.kind, explanation.first_failure.rank) == (kind, rank)
    assert (explanation.suspects, explanation.fault_class) == (suspects, fault_class)
    assert not set(explanation.suspects) & set(explanation.victims)
    assert explanation.evidence


def test_everybody_else_is_a_victim() -> None:
    explanation = explained(traceback("KeyError: 'labels'", "[rank3]: "), ranks=8)

    assert explanation.victims == (0, 1, 2, 4, 5, 6, 7)


SAME = {
    "with the number of ranks": ("".join(traceback("ValueError: 7", f"[rank{rank}]: ") for rank in range(8)), 8),
    "without it": ("".join(traceback("ValueError: 7", f"[rank{rank}]: ") for rank in range(8)), None),
    "without prefixes": (traceback("ValueError: 7") * 8, 8),
    "with addresses that differ": (
        "".join(traceback(f"ValueError: <T at 0x7f{rank}>", f"[rank{rank}]: ") for rank in range(8)), 8,
    ),
    "cut off at the end": ("".join(traceback("ValueError: 7", f"[rank{rank}]: ") for rank in range(7)), 8),
}  # fmt: skip


@pytest.mark.parametrize(("log", "ranks"), SAME.values(), ids=SAME)
def test_the_same_exception_on_all_ranks_blames_no_rank(log: str, ranks: int | None) -> None:
    explanation = explained(log, ranks)

    assert (explanation.suspects, explanation.victims) == ((), ())
    assert explanation.fault_class is FaultClass.APPLICATION


NOTHING = {
    "steps": "step 1 loss 2.3\nstep 2 loss 2.2\n",
    "words about errors": "error rate: 0.3\nmean error: 0.1\nno errors found\nNCCL INFO Bootstrap: Using eth0\n",
    "an exception that Python ignores": "Exception ignored in: <function f>\n" + traceback("AttributeError: gone"),
    "a name of an exception in a message": "retrying after ConnectionError: see there\nValueError: is documented\n",
    "information of a process group": "[rank0]:[I1016 03:31:38.9 ProcessGroupNCCL.cpp:881] [PG 0 Rank 0] ready\nx\ny\n",
    "nothing": "",
}


@pytest.mark.parametrize("log", NOTHING.values(), ids=NOTHING)
def test_no_failure_is_read_into(log: str) -> None:
    explanation = explained(log)

    assert (explanation.events, explanation.suspects, explanation.first_failure) == ((), (), None)
