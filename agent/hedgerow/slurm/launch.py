"""Which part of a step this launcher is: a node, whose ranks it starts, or one rank, started by ``srun``. Pure."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Sequence

from hedgerow.slurm.step import Step
from hedgerow.slurm.worker_ranks import ranks_of

PER_NODE = "per-node"
PER_TASK = "per-task"
# PER_NODE where the command starts the ranks itself, else PER_TASK; what fits neither runs as it is, unwatched.
AUTO = "auto"
LAUNCHES = (PER_NODE, PER_TASK, AUTO)
# As a manifest writes them.
_IN_MANIFESTS = {"PerNode": PER_NODE, "PerTask": PER_TASK}


def named(text: str) -> str:
    """The launch as it is written on a command line, from either way of writing it."""
    return _IN_MANIFESTS.get(text, text)


class Misplaced(ValueError):
    """The step has another form than such a launch needs; the text is a sentence."""


def place_in(
    step: Step, given: Mapping[str, Any], starts_ranks: bool, command: Sequence[str], variables: Mapping[str, str]
) -> Dict[str, Any]:
    """The fields of the launcher's options that follow from the step; ``given`` has those that were written down.

    starts_ranks: the command does so itself. Raises Misplaced.
    """
    launch = given["slurm_launch"] or PER_NODE
    nproc = given["nproc"]
    if launch == AUTO:
        _check_size(step, given, starts_ranks)
        launch = PER_NODE if starts_ranks else PER_TASK
        nproc = nproc or (ranks_of(command, variables) if starts_ranks else None)
    if launch == PER_TASK:
        if starts_ranks:
            raise Misplaced(
                "srun starts the command once for each rank, and it starts ranks itself; write launch: PerNode"
            )
        _check_ranks(step)
        nproc = step.tasks_here
    elif step.tasks_here != 1:
        raise Misplaced(
            "srun starts %d tasks on this node, each of which would start the ranks of the whole node; write "
            "--ntasks=%d --ntasks-per-node=1 for srun, or --slurm-launch per-task" % (step.tasks_here, step.nodes)
        )
    return {
        "slurm_launch": launch,
        # Nobody has declared the ranks: the script is one that finds its way with what srun alone gives it.
        "own_place": given["slurm_launch"] == AUTO and not given["nproc"],
        "nproc": nproc,
        "worker": step.node_index,
        "workers": given["workers"] or step.nodes,
        "node": given["node"] or step.node,
        "step": step,
    }


def _check_size(step: Step, given: Mapping[str, Any], starts_ranks: bool) -> None:
    """Beside the step that trains, a script may have others, such as one that prepares the data."""
    workers, nproc = given["workers"] or step.nodes, given["nproc"]
    if step.nodes != workers or (nproc and not starts_ranks and set(step.tasks_per_node) != {nproc}):
        raise Misplaced(
            "it has %s tasks on %d nodes, where the job has %d workers of %s ranks"
            % (sum(step.tasks_per_node), step.nodes, workers, nproc or "any number of")
        )


def _check_ranks(step: Step) -> None:
    """The ranks of a worker are numbered one after the other, and all workers have as many."""
    count = step.tasks_here
    if set(step.tasks_per_node) != {count}:
        raise Misplaced(
            "srun starts %s tasks on the nodes; write --ntasks-per-node, so that all have as many"
            % " and ".join(str(number) for number in sorted(set(step.tasks_per_node)))
        )
    first = step.node_index * count
    in_order = tuple(range(first, first + count))
    if step.rank != first + step.local or (step.global_ids and step.global_ids != in_order):
        raise Misplaced("srun deals the ranks out to the nodes in turn; write --distribution=block for srun")
