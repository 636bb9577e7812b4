"""What Lightning reads of Slurm's variables, and refuses: lightning/fabric/plugins/environments/slurm.py, 2.6."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Place(NamedTuple):
    """Where a rank believes to be."""

    world_size: int
    global_rank: int
    local_rank: int
    node_rank: int
    main_address: str


def lightning_place(variables: Mapping[str, str], devices: int, nodes: int) -> Place:
    """The place of a rank; AssertionError where Lightning would not take it for one of Slurm, or refuse it."""
    assert "SLURM_NTASKS" in variables
    assert variables.get("SLURM_JOB_NAME") not in ("bash", "interactive")
    if int(variables["SLURM_NTASKS"]) > 1:
        assert "SLURM_NTASKS_PER_NODE" in variables
    assert int(variables.get("SLURM_NTASKS_PER_NODE", devices)) == devices
    assert int(variables.get("SLURM_NNODES", nodes)) == nodes
    first = re.sub(r"\[(\w+)[^\]]*\]", r"\1", variables.get("SLURM_NODELIST", "127.0.0.1")).split(",")[0]
    return Place(
        int(variables["SLURM_NTASKS"]),
        int(variables["SLURM_PROCID"]),
        int(variables["SLURM_LOCALID"]),
        int(variables["SLURM_NODEID"]),
        variables.get("MASTER_ADDR", first),
    )
