"""The shape of pyslurm 22.5."""

import os
from pathlib import Path
from typing import Any

from tests.slurm.pyslurm_standin import shared
from tests.slurm.pyslurm_standin.shared import Job, Jobs, Node, Nodes, RPCError

__all__ = ["Job", "JobSubmitDescription", "Jobs", "Node", "Nodes", "RPCError", "version"]

_LONGEST_PATH = os.pathconf("/", "PC_PATH_MAX")


def version() -> str:
    """Gone in 25.11."""
    return "22.5.0"


class JobSubmitDescription(shared.JobSubmitDescription):
    """See pyslurm 22.5."""

    gres_name = "gres_per_node"
    own = ("power_options",)

    def check(self) -> None:
        """A limit in text must have a colon, a signal its SIG; a long script is tried as a path first."""
        given: dict[str, Any] = self.__dict__
        if str(given.get("time_limit", ":")).isdigit() and isinstance(given["time_limit"], str):
            raise TypeError("an integer is required")
        name = str(given.get("signal", "SIGTERM")).rpartition(":")[2].partition("@")[0]
        if not name.isdigit() and not name.startswith("SIG"):
            raise ValueError(f"Invalid Signal: {name}")
        if len(given["script"]) > _LONGEST_PATH:
            raise OSError(36, "File name too long")
        if not Path(given["script"]).is_file():
            raise ValueError("You need to provide a batch script.")
