"""What is said of a SlurmCluster, and whom its jobs belong to. Pure."""

from __future__ import annotations

import re

from msgspec import Struct, structs

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FALSE, TRUE, UNKNOWN, find_condition, set_condition
from hedgerow_operator.api.slurm_cluster import READY, SlurmCluster, SlurmClusterStatus
from hedgerow_operator.api.status import Condition, ConditionStatus
from hedgerow_operator.core.slurm.node_facts import node_facts
from hedgerow_operator.core.slurm.seen import SlurmNode

# The oldest release that the drivers were seen to work with.
OLDEST_RELEASE = (22, 5)
_NO_WORK = frozenset({"DRAIN", "FAIL", "MAINTENANCE", "PLANNED_MAINT", "REBOOT_ISSUED"})
_DOWN = frozenset({"DOWN", "ERROR", "FUTURE", "UNKNOWN"})


class ClusterSeen(Struct, frozen=True, kw_only=True):
    """What asking it gave. version: "" where it could not be asked. refused: why it never can be, as a reason of
    ``api.reasons`` and a sentence. unreachable: why it could not be asked just now. refused_users: users that the token
    does not let us act as.
    """

    version: str = ""
    nodes: tuple[SlurmNode, ...] = ()
    refused: tuple[str, str] | None = None
    unreachable: str = ""
    refused_users: tuple[str, ...] = ()


class Identity(Struct, frozen=True, kw_only=True):
    """Who the jobs of a namespace belong to. user "": whoever the operator runs as. refusal: why they may not use the
    cluster, else "". unproven: it may be that they may, and is not seen yet.
    """

    user: str = ""
    refusal: str = ""
    unproven: bool = False


def identity(cluster: SlurmCluster, namespace: str) -> Identity:
    """Who jobs of this namespace are on the cluster. What is not proven is refused."""
    metadata, spec = cluster.metadata, cluster.spec
    place = f"SlurmCluster {metadata.namespace}/{metadata.name}"
    entry = next((entry for entry in spec.allowed_namespaces if entry.name == namespace), None)
    if entry is None and namespace != metadata.namespace:
        return Identity(
            refusal=f"{place} does not allow namespace {namespace}; whoever owns it can add it to allowedNamespaces"
        )
    ready = find_condition(cluster.status.conditions, READY)
    if ready is not None and ready.status == FALSE:
        return Identity(refusal=f"{place} is not ready: {ready.message}", unproven=True)
    if entry is None or not entry.user or entry.user == spec.user:
        return Identity(user=spec.user)
    if entry.user in cluster.status.refused_users or ready is None or ready.status != TRUE:
        refusal = f"{place} was not seen to let us act as {entry.user}, the user of {namespace}"
        return Identity(refusal=refusal, unproven=True)
    return Identity(user=entry.user)


def cluster_status(cluster: SlurmCluster, seen: ClusterSeen, now: float) -> SlurmClusterStatus:
    """The status to write."""
    condition = structs.replace(_ready(seen), observed_generation=cluster.metadata.generation)
    conditions = set_condition(cluster.status.conditions, condition, now)
    told = structs.replace(
        cluster.status,
        conditions=conditions,
        state=READY if condition.status == TRUE else "Unreachable" if condition.status == UNKNOWN else "NotReady",
        reason="" if condition.status == TRUE else condition.reason,
    )
    if not seen.version:
        return told
    usable = sum(map(_usable, seen.nodes))
    return structs.replace(
        told, version=seen.version, nodes=f"{usable}/{len(seen.nodes)}", refused_users=seen.refused_users
    )


def _ready(seen: ClusterSeen) -> Condition:
    if seen.refused is not None:
        return _condition(FALSE, *seen.refused)
    if seen.unreachable:
        return _condition(UNKNOWN, reasons.UNREACHABLE, seen.unreachable)
    release = _release(seen.version)
    if release is not None and release < OLDEST_RELEASE:
        oldest = ".".join(f"{part:02}" for part in OLDEST_RELEASE)
        message = f"Slurm {seen.version} is older than {oldest}, the oldest that is supported"
        return _condition(FALSE, reasons.VERSION_NOT_SUPPORTED, message)
    message = f"Slurm {seen.version} answers"
    if seen.refused_users:
        message += f"; it does not let us act as {', '.join(seen.refused_users)}"
    return _condition(TRUE, reasons.ANSWERS, message)


def _condition(status: ConditionStatus, reason: str, message: str) -> Condition:
    return Condition(type=READY, status=status, reason=reason, message=message)


def _release(version: str) -> tuple[int, int] | None:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None


def _usable(node: SlurmNode) -> bool:
    facts = node_facts(node)
    return not (facts.silent or facts.out or node.state in _DOWN or node.flags & _NO_WORK)
