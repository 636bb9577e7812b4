"""The shape of pyslurm 25.11."""

from tests.slurm.pyslurm_standin import shared
from tests.slurm.pyslurm_standin.shared import Job, Jobs, Node, Nodes, RPCError

__all__ = ["Job", "JobSubmitDescription", "Jobs", "Node", "Nodes", "RPCError", "__version__"]
__version__ = "25.11.2"


class JobSubmitDescription(shared.JobSubmitDescription):
    """See pyslurm 25.11."""

    gres_name = "gres"
    own = ("extra", "container_id", "segment_size")
