"""What srun would have told each rank, had it started the ranks one by one and not one launcher a node. Pure."""

from __future__ import annotations

from typing import Dict, List, Mapping

from hedgerow.slurm.step import repeated

# Of the launcher's own process alone: a rank that took them for its own would be another one to Slurm's PMI.
_NOT_OF_RANKS = ("SLURM_TASK_PID", "PMI_", "PMIX_")


def of_ranks(variables: Mapping[str, str]) -> Dict[str, str]:
    """The variables of the launcher that its ranks may have too."""
    return {name: value for name, value in variables.items() if not name.startswith(_NOT_OF_RANKS)}


def rank_variables(worker: int, workers: int, nproc: int, local: int) -> Dict[str, str]:
    """Variables of rank ``local`` of this node. worker: the node's index in the step."""
    first = worker * nproc
    everywhere = repeated(nproc, workers)
    ranks = str(workers * nproc)
    return {
        "SLURM_PROCID": str(first + local),
        "SLURM_LOCALID": str(local),
        "SLURM_NODEID": str(worker),
        "SLURM_DISTRIBUTION": "block",
        "SLURM_GTIDS": ",".join(str(first + other) for other in range(nproc)),
        "SLURM_NTASKS": ranks,
        "SLURM_NPROCS": ranks,
        "SLURM_NTASKS_PER_NODE": str(nproc),
        "SLURM_TASKS_PER_NODE": everywhere,
        "SLURM_STEP_NUM_TASKS": ranks,
        "SLURM_STEP_TASKS_PER_NODE": everywhere,
    }


def own_gpus(variables: Mapping[str, str], nproc: int, local: int) -> Dict[str, str]:
    """CUDA_VISIBLE_DEVICES of rank ``local``: its share of the worker's GPUs, as they were dealt out in order.

    Fewer GPUs than ranks, or none told: nothing is changed.
    """
    given: List[str] = [word for word in variables.get("CUDA_VISIBLE_DEVICES", "").split(",") if word]
    share = len(given) // nproc
    return {"CUDA_VISIBLE_DEVICES": ",".join(given[local * share : (local + 1) * share])} if share else {}
