"""Whether the nodes that a waiting job avoids are what keeps it waiting. Pure."""

from collections.abc import Iterable

from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode

_OUT_OF_USE = frozenset(
    {"DRAIN", "FAIL", "NOT_RESPONDING", "POWERED_DOWN", "MAINT", "RESERVED", "INVALID_REG", "INVAL"}
)


def too_few(nodes: Iterable[SlurmNode], job: SlurmJob, workers: int) -> bool:
    """Whether the usable nodes of its partition suffice only with those that it avoids."""
    usable = {node.name for node in nodes if _usable(node) and _in_partition(node, job)}
    return len(usable) >= workers > len(usable - set(job.excluded))


def _usable(node: SlurmNode) -> bool:
    return node.state not in ("DOWN", "ERROR", "FUTURE", "UNKNOWN") and not (_OUT_OF_USE & node.flags)


def _in_partition(node: SlurmNode, job: SlurmJob) -> bool:
    wanted = set(filter(None, job.partition.split(",")))
    return not wanted or bool(wanted & set(node.partitions))
