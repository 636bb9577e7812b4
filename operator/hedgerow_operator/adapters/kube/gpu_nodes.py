"""GPUNodes in the API server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.adapters.kube.events import Recorder, Subject
from hedgerow_operator.api.gpu_node import GPUNode, GPUNodeStatus, gpu_node, gpu_node_fields
from hedgerow_operator.api.labels import (
    ANNOTATION_SLURM_CLUSTER,
    API_VERSION,
    GPU_NODE_KIND,
    LABEL_MANAGED_BY,
    MANAGED_BY,
)
from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.ports import Conflict, Unreachable


class KubeGPUNodes:
    """Implements reconcile.nodes.GPUNodes. site_of: the SlurmCluster whose node it has proven to be; "": of none."""

    def __init__(self, api: Api, clock: Callable[[], float], site_of: Callable[[str], str] = lambda node: "") -> None:
        self._api = api
        self._site_of = site_of
        self._recorder = Recorder(api, clock)

    async def existing(self) -> list[GPUNode]:
        try:
            found = await self._api.list(paths.GPU_NODES)
        except Rejected as error:
            raise Unreachable(f"GPUNodes cannot be listed: {error}") from error
        return [gpu_node(fields) for fields in found if "deletionTimestamp" not in fields["metadata"]]

    async def get(self, name: str) -> GPUNode | None:
        try:
            fields = await self._api.find(paths.gpu_node(name))
        except Rejected as error:
            raise Unreachable(f"GPUNode {name} cannot be read: {error}") from error
        return None if fields is None or "deletionTimestamp" in fields["metadata"] else gpu_node(fields)

    async def create(self, name: str) -> GPUNode | None:
        try:
            node = await self._api.find(paths.node(name))
            site = self._site_of(name)
            if node is None and not site:
                return None
            body = _on_slurm(name, site) if node is None else _object(node)
            return gpu_node(await self._api.create(paths.GPU_NODES, body))
        except Rejected as error:
            if error.reason == "AlreadyExists":
                raise Conflict(str(error)) from error
            raise Unreachable(f"GPUNode {name} cannot be created: {error}") from error

    async def owner(self, name: str, site: str) -> str:
        """Whose node this is, in words, where it is not the one of this SlurmCluster; else "". Raises Unreachable."""
        try:
            found = await self._api.find(paths.node(name))
        except Rejected as error:
            raise Unreachable(f"node {name} cannot be read: {error}") from error
        node = await self.get(name)
        of = site if node is None else node.metadata.annotations.get(ANNOTATION_SLURM_CLUSTER, "")
        if found is not None or (node is not None and not of and node.metadata.owner_references):
            return "a node of Kubernetes"
        return "" if of in ("", site) else f"a node of {of} (kubectl delete gpunode {name} if it is not any more)"

    async def write_status(self, node: GPUNode, status: GPUNodeStatus) -> GPUNode:
        name = node.metadata.name
        body = {**gpu_node_fields(node), "status": to_builtins(status)}
        try:
            return gpu_node(await self._api.replace(f"{paths.gpu_node(name)}/status", body))
        except Rejected as error:
            if error.status in (404, 409):
                raise Conflict(str(error)) from error
            raise Unreachable(f"GPUNode {name} cannot be changed: {error}") from error

    async def record(self, node: GPUNode, event: Event) -> None:
        with contextlib.suppress(Exception):
            await self._recorder.record(Subject(GPU_NODE_KIND, "", node.metadata.name, node.metadata.uid), event)


def _on_slurm(name: str, site: str) -> Fields:
    """A new GPUNode of a node that Kubernetes does not have; it stays until a person deletes it."""
    return _new(name, annotations={ANNOTATION_SLURM_CLUSTER: site})


def _object(node: Fields) -> Fields:
    """A new GPUNode; the garbage collector removes it once its node is gone, also where another one has its name."""
    name, uid = node["metadata"]["name"], node["metadata"]["uid"]
    return _new(name, ownerReferences=[{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}])


def _new(name: str, **metadata: Any) -> Fields:
    return {
        "apiVersion": API_VERSION,
        "kind": GPU_NODE_KIND,
        "metadata": {"name": name, "labels": {LABEL_MANAGED_BY: MANAGED_BY}, **metadata},
    }
