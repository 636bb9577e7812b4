"""The step of Slurm that this process is a task of, as ``srun`` tells it by variables. Pure.

Seen with Slurm 22.05; the names are those of srun(1), OUTPUT ENVIRONMENT VARIABLES. A batch script has most of them
too, but none of SLURM_STEP_*.
"""

from __future__ import annotations

import re
from typing import Mapping, NamedTuple, Optional, Tuple

NODE_NAME = "SLURMD_NODENAME"
_GROUP = re.compile(r"(\d{1,9})(?:\(x(\d{1,9})\))?")
# Far more than there are nodes anywhere.
_MOST_NODES = 1 << 20


class Step(NamedTuple):
    """name: JOB.STEP. node_index: of this node in the step, from 0. local: of this task on its node; rank: of all.

    tasks_per_node: one number for each node of the step. global_ids: the ranks of the tasks of this node, in order of
    their local numbers; empty where Slurm does not tell. srun: where the srun of this step listens, HOST:PORT.
    """

    name: str
    node: str
    node_index: int
    nodes: int
    local: int
    rank: int
    tasks_per_node: Tuple[int, ...]
    global_ids: Tuple[int, ...] = ()
    srun: str = ""

    @property
    def tasks_here(self) -> int:
        """How many tasks run on this node."""
        return self.tasks_per_node[self.node_index]


def read(variables: Mapping[str, str]) -> Optional[Step]:
    """The step; None outside of one."""
    job = variables.get("SLURM_JOB_ID") or variables.get("SLURM_JOBID", "")
    step = variables.get("SLURM_STEP_ID") or variables.get("SLURM_STEPID", "")
    numbers = [
        _number(variables.get(name, ""))
        for name in ("SLURM_NODEID", "SLURM_STEP_NUM_NODES", "SLURM_LOCALID", "SLURM_PROCID")
    ]
    per_node = tasks_per_node(variables.get("SLURM_STEP_TASKS_PER_NODE", ""))
    node_index, nodes, local, rank = numbers
    if not job or not step or node_index is None or nodes is None or local is None or rank is None:
        return None
    if len(per_node) != nodes or node_index >= nodes:
        return None
    ids = [_number(word) for word in variables.get("SLURM_GTIDS", "").split(",")]
    known = tuple(number for number in ids if number is not None)
    srun = "%s:%s" % (variables.get("SLURM_SRUN_COMM_HOST", ""), variables.get("SLURM_SRUN_COMM_PORT", ""))
    return Step(
        "%s.%s" % (job, step), variables.get(NODE_NAME, ""), node_index, nodes, local, rank, per_node,
        known if len(known) == per_node[node_index] else (), srun,
    )  # fmt: skip


def tasks_per_node(text: str) -> Tuple[int, ...]:
    """``2(x3),1`` as (2, 2, 2, 1); empty where it is no such list."""
    counts: Tuple[int, ...] = ()
    for word in text.split(","):
        found = _GROUP.fullmatch(word)
        times = int(found.group(2) or 1) if found else _MOST_NODES
        if found is None or len(counts) + times > _MOST_NODES:
            return ()
        counts += (int(found.group(1)),) * times
    return counts


def repeated(count: int, times: int) -> str:
    """``times`` nodes of ``count`` tasks each, as Slurm writes it."""
    return str(count) if times == 1 else "%d(x%d)" % (count, times)


def _number(text: str) -> Optional[int]:
    return int(text) if text.isdigit() and len(text) < 10 else None
