"""What kopf watches, and which job each event is about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import kopf

from hedgerow_operator.adapters.kube.nodes import Nodes
from hedgerow_operator.api.labels import GROUP, LABEL_JOB, SLURM_CLUSTER_PLURAL, TRAINING_JOB_PLURAL, VERSION
from hedgerow_operator.handlers.residents import Residents
from hedgerow_operator.reconcile.ports import JobKey

# A watch that the server ends in time is renewed in time; one that hangs is noticed by the missing bookmarks.
WATCH_SECONDS = 300


class Queue(Protocol):
    """Where the keys of jobs to look at go (reconcile.queue.WorkQueue)."""

    def add(self, key: JobKey, after: float = 0.0) -> None:
        """Look at this job, ``after`` seconds from now at the latest."""


def make_registry(
    queue: Queue,
    nodes: Nodes,
    login: Callable[..., Awaitable[kopf.ConnectionInfo]],
    residents: Residents,
    *,
    watch_nodes: bool,
    clusters: Queue | None = None,
) -> kopf.OperatorRegistry:
    """The handlers; none of them returns anything or changes an object. clusters: where SlurmClusters go."""
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(login)

    @kopf.on.event(GROUP, VERSION, TRAINING_JOB_PLURAL, registry=registry)
    def training_job(namespace: str | None, name: str, **_: Any) -> None:
        queue.add(JobKey(namespace or "", name))

    @kopf.on.event("batch", "v1", "jobs", registry=registry)
    def placement(namespace: str | None, labels: Mapping[str, str], **_: Any) -> None:
        for key in _owner(namespace, labels):
            queue.add(key)

    @kopf.on.event("", "v1", "pods", registry=registry)
    def worker(
        type: str,  # noqa: A002  (kopf passes arguments by these names)
        namespace: str | None,
        name: str,
        labels: Mapping[str, str],
        spec: kopf.Spec,
        **_: Any,
    ) -> None:
        for key in _owner(namespace, labels):
            residents.moved(key, name, "" if type == "DELETED" else spec.get("nodeName") or "")
            queue.add(key)

    if clusters is not None:
        _watch_clusters(registry, clusters)
    if watch_nodes:
        _watch_nodes(registry, queue, nodes, residents)
    return registry


def _watch_nodes(registry: kopf.OperatorRegistry, queue: Queue, nodes: Nodes, residents: Residents) -> None:
    @kopf.on.event("", "v1", "nodes", registry=registry)
    def node(type: str, name: str, body: Any, **_: Any) -> None:  # noqa: A002
        if nodes.watched(name, None if type == "DELETED" else dict(body)):
            for key in residents.on(name):
                queue.add(key)


def _watch_clusters(registry: kopf.OperatorRegistry, clusters: Queue) -> None:
    @kopf.on.event(GROUP, VERSION, SLURM_CLUSTER_PLURAL, registry=registry)
    def slurm_cluster(namespace: str | None, name: str, **_: Any) -> None:
        clusters.add(JobKey(namespace or "", name))


def make_settings() -> kopf.OperatorSettings:
    """kopf's settings: no peering, no events of its own, watches that are renewed, only objects with our label."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.watching.server_timeout = WATCH_SECONDS
    settings.watching.client_timeout = WATCH_SECONDS + 60
    settings.watching.connect_timeout = 10.0
    settings.watching.chunk_size = 500
    settings.networking.request_timeout = 30.0
    for group, plural in (("batch", "jobs"), ("", "pods")):
        settings.watching.label_selectors[(group, "v1", plural)] = LABEL_JOB
    return settings


def _owner(namespace: str | None, labels: Mapping[str, str]) -> tuple[JobKey, ...]:
    """The job that the label names; the watch may show objects that have just lost it."""
    return (JobKey(namespace or "", labels[LABEL_JOB]),) if LABEL_JOB in labels else ()
