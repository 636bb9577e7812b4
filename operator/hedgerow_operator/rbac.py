"""Every right that the operator needs, and why: the one table that the chart's roles are generated from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from hedgerow_operator.api.labels import (
    GPU_NODE_PLURAL,
    GROUP,
    INFERENCE_ENDPOINT_PLURAL,
    SERVERLESS_PROVIDER_PLURAL,
    SLURM_CLUSTER_PLURAL,
    TRAINING_JOB_PLURAL,
)

# Namespace: in each namespace that is watched. Cluster: of the whole cluster, whatever is watched.
# Home: in the operator's own namespace. Default: in the namespace of that name, where node agents run.
# Taint: of the whole cluster, and only with nodeAction: Taint.
# Exporters: in the namespace of the dcgm-exporters, and only with agent.source: DCGMExporter.
# Slurm: in each namespace that is watched, and only with slurm.enabled.
# Endpoints: in each namespace that is watched, gatewayPods: in the operator's own one, and only with gateway.enabled.
# Gateway: not the operator's: those of the gateways, in each namespace that is watched.
SCOPES = (
    "namespace", "cluster", "home", "default", "taint", "exporters", "slurm", "endpoints", "gatewayPods", "gateway",
)  # fmt: skip
Scope = Literal[
    "namespace", "cluster", "home", "default", "taint", "exporters", "slurm", "endpoints", "gatewayPods", "gateway",
]  # fmt: skip


class Right(Struct, frozen=True, kw_only=True):
    """One rule of a role, and the sentence that justifies it."""

    scope: Scope
    group: str
    resource: str
    verbs: tuple[str, ...]
    why: str


RIGHTS = (
    Right(
        scope="namespace",
        group=GROUP,
        resource=TRAINING_JOB_PLURAL,
        verbs=("get", "list", "watch", "patch", "delete"),
        why="reads the jobs, keeps what it has learned in an annotation, deletes them at ttlSecondsAfterFinished",
    ),
    Right(
        scope="namespace",
        group=GROUP,
        resource=f"{TRAINING_JOB_PLURAL}/status",
        verbs=("update",),
        why="writes the status",
    ),
    Right(
        scope="namespace",
        group=GROUP,
        resource=f"{TRAINING_JOB_PLURAL}/finalizers",
        verbs=("update",),
        why="owns Jobs with blockOwnerDeletion where the plugin OwnerReferencesPermissionEnforcement is on",
    ),
    Right(
        scope="namespace",
        group="batch",
        resource="jobs",
        verbs=("get", "list", "watch", "create", "delete"),
        why="makes and removes placements",
    ),
    Right(
        scope="namespace",
        group="",
        resource="pods",
        verbs=("get", "list", "watch", "delete"),
        why="sees the workers, checks who sends a report, removes workers of a dead node and those left without a Job",
    ),
    Right(
        scope="namespace",
        group="",
        resource="events",
        verbs=("get", "list", "create", "patch"),
        why="tells people and counts repetitions; reads why Kubernetes cannot make a worker (quota, Pod Security)",
    ),
    Right(
        scope="cluster",
        group="",
        resource="nodes",
        verbs=("get", "list", "watch"),
        why="knows whether a silent worker's node is silent too, or gone, and what health.nodeSignals asks of nodes",
    ),
    Right(
        scope="cluster",
        group=GROUP,
        resource=GPU_NODE_PLURAL,
        verbs=("get", "list", "create"),
        why="makes one for each node whose agent reports",
    ),
    Right(
        scope="cluster",
        group=GROUP,
        resource=f"{GPU_NODE_PLURAL}/status",
        verbs=("update",),
        why="says in it what the agent says of the GPUs, and whether new attempts avoid the node",
    ),
    Right(
        scope="cluster",
        group="authentication.k8s.io",
        resource="tokenreviews",
        verbs=("create",),
        why="checks the tokens that reports carry",
    ),
    Right(
        scope="home",
        group="coordination.k8s.io",
        resource="leases",
        verbs=("get", "create", "update"),
        why="one operator acts at a time",
    ),
    Right(
        scope="default",
        group="",
        resource="events",
        verbs=("get", "create", "patch"),
        why="tells people what becomes of GPUNodes: Kubernetes keeps events about what is in no namespace there",
    ),
    Right(
        scope="taint",
        group="",
        resource="nodes",
        verbs=("patch",),
        why="taints quarantined nodes, and takes its own taints off",
    ),
    Right(
        scope="exporters",
        group="",
        resource="pods",
        verbs=("list",),
        why="finds the dcgm-exporters, and which node each one speaks for",
    ),
    Right(
        scope="slurm",
        group=GROUP,
        resource=SLURM_CLUSTER_PLURAL,
        verbs=("get", "list", "watch"),
        why="learns how each cluster of Slurm is reached, as whom, and by whose jobs",
    ),
    Right(
        scope="slurm",
        group=GROUP,
        resource=f"{SLURM_CLUSTER_PLURAL}/status",
        verbs=("update",),
        why="says in it whether the cluster answers",
    ),
    Right(
        scope="slurm",
        group="",
        resource="secrets",
        verbs=("get",),
        why="reads the tokens that SlurmClusters name, each by its name; it cannot list Secrets",
    ),
    Right(
        scope="endpoints",
        group=GROUP,
        resource=INFERENCE_ENDPOINT_PLURAL,
        verbs=("get", "list", "patch"),
        why="sees the endpoints, and keeps in an annotation what part of a budget each gateway may spend",
    ),
    Right(
        scope="endpoints",
        group=GROUP,
        resource=SERVERLESS_PROVIDER_PLURAL,
        verbs=("list",),
        why="sees the providers that endpoints name",
    ),
    Right(
        scope="endpoints",
        group=GROUP,
        resource=f"{INFERENCE_ENDPOINT_PLURAL}/status",
        verbs=("update",),
        why="says in it what the gateways say",
    ),
    Right(
        scope="endpoints",
        group=GROUP,
        resource=f"{SERVERLESS_PROVIDER_PLURAL}/status",
        verbs=("update",),
        why="says in it whether the provider can be used",
    ),
    Right(
        scope="gatewayPods",
        group="",
        resource="pods",
        verbs=("get",),
        why="checks that the pod that a gateway's token is of still exists, and sees which gateways are gone",
    ),
    Right(
        scope="gateway",
        group=GROUP,
        resource=INFERENCE_ENDPOINT_PLURAL,
        verbs=("list", "watch"),
        why="serves what is written there",
    ),
    Right(
        scope="gateway",
        group=GROUP,
        resource=SERVERLESS_PROVIDER_PLURAL,
        verbs=("list", "watch"),
        why="knows how each provider is reached, and what it costs",
    ),
    Right(
        scope="gateway",
        group="",
        resource="secrets",
        verbs=("get",),
        why="reads the keys that endpoints and providers name, each Secret by its name; it cannot list Secrets",
    ),
)


def rules(rights: Iterable[Right], scope: Scope) -> list[dict[str, Any]]:
    """The rules of a Role or ClusterRole for the rights of one scope."""
    return [
        {"apiGroups": [right.group], "resources": [right.resource], "verbs": list(right.verbs)}
        for right in rights
        if right.scope == scope
    ]


def render() -> str:
    """The file for the chart: one list of rules a scope."""
    lines = ["# Generated by `python tools/chart_files.py` from the operator's table of rights; do not edit."]
    for scope in SCOPES:
        lines.append(f"{scope}:")
        for right in RIGHTS:
            if right.scope == scope:
                lines += _rule_lines(right)
    return "\n".join(lines) + "\n"


def _rule_lines(right: Right) -> list[str]:
    verbs = ", ".join(right.verbs)
    return [
        f"  # {right.why}",
        f'  - apiGroups: ["{right.group}"]',
        f'    resources: ["{right.resource}"]',
        f"    verbs: [{verbs}]",
    ]
