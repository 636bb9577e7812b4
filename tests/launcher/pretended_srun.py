"""Plays the part of srun: starts the tasks of a step as it does, one or several a node, on this machine.

``pretended_srun.py NODES TASKS_PER_NODE COMMAND…``: variables as Slurm 22.05 sets them, lines of output with the task's
number before them (``--label``), standard input for the first task, a descriptor that PMI_FD names, signals to all
processes of the step, and the highest exit code.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import IO, Any

JOB = "7"
STEP = "3"


def variables(node: int, local: int, nodes: int, per_node: int) -> dict[str, str]:
    """What srun tells the task ``local`` of node ``node``."""
    count = f"{per_node}(x{nodes})" if nodes > 1 else str(per_node)
    tasks = str(nodes * per_node)
    return {
        "SLURM_JOB_ID": JOB,
        "SLURM_JOB_NAME": "train",
        "SLURM_JOB_NUM_NODES": str(nodes),
        "SLURM_NNODES": str(nodes),
        "SLURM_NODELIST": f"n[1-{nodes}]" if nodes > 1 else "n1",
        "SLURM_STEP_ID": STEP,
        "SLURM_STEP_NUM_NODES": str(nodes),
        "SLURM_STEP_NUM_TASKS": tasks,
        "SLURM_STEP_TASKS_PER_NODE": count,
        "SLURM_TASKS_PER_NODE": count,
        "SLURM_NTASKS": tasks,
        "SLURM_NPROCS": tasks,
        "SLURM_NTASKS_PER_NODE": str(per_node),
        "SLURM_NODEID": str(node),
        "SLURM_LOCALID": str(local),
        "SLURM_PROCID": str(node * per_node + local),
        "SLURM_GTIDS": ",".join(str(node * per_node + other) for other in range(per_node)),
        "SLURMD_NODENAME": f"n{node + 1}",
        "SLURM_SRUN_COMM_HOST": "127.0.0.1",
        "SLURM_SRUN_COMM_PORT": str(os.getpid()),
    }


def label(task: int, stream: IO[bytes], out: IO[bytes]) -> None:
    """Pass lines on with the number of their task, as ``srun --label`` does."""
    for line in stream:
        out.write(f"{task}: ".encode() + line)
        out.flush()


def start(node: int, local: int, nodes: int, per_node: int, command: list[str]) -> subprocess.Popen[bytes]:
    """One task. Everything that it inherits by number is open in it alone, as with Slurm's PMI."""
    pmi, other = os.pipe()
    os.write(other, b"pmi of task %d" % (node * per_node + local))
    os.close(other)
    os.set_inheritable(pmi, True)
    settings = {**os.environ, **variables(node, local, nodes, per_node), "PMI_FD": str(pmi)}
    task = subprocess.Popen(
        command,
        env=settings,
        stdin=sys.stdin if node == local == 0 else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[pmi],
        start_new_session=True,
    )
    os.close(pmi)
    return task


def below(pid: int) -> list[int]:
    """The process and all its descendants."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = [int(word) for word in file.read().split()]
    return [pid, *(deeper for child in children for deeper in below(child))]


def main() -> int:
    """The highest exit code of the tasks."""
    nodes, per_node, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    tasks = [start(node, local, nodes, per_node, command) for node in range(nodes) for local in range(per_node)]

    def pass_on(number: int, _frame: Any) -> None:
        for task in tasks:
            if task.poll() is None:
                for pid in below(task.pid):
                    os.kill(pid, number)

    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, pass_on)
    readers = [
        threading.Thread(target=label, args=(place, stream, out))
        for place, task in enumerate(tasks)
        for stream, out in ((task.stdout, sys.stdout.buffer), (task.stderr, sys.stderr.buffer))
    ]
    for reader in readers:
        reader.start()
    codes = [task.wait() for task in tasks]
    for reader in readers:
        reader.join()
    return max(code if code >= 0 else 128 - code for code in codes)


if __name__ == "__main__":
    sys.exit(main())
