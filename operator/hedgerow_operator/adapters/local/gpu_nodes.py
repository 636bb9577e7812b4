"""GPUNodes of a local run, in memory: after a restart their agents say again what they have to say."""

from collections.abc import Callable

import msgspec

from hedgerow_operator.api.gpu_node import GPUNode, GPUNodeMeta, GPUNodeStatus
from hedgerow_operator.core.plan import Event


class MemoryGPUNodes:
    """Implements reconcile.nodes.GPUNodes. told: called with a node's name and what people are told of it."""

    def __init__(self, told: Callable[[str, Event], None]) -> None:
        self._told = told
        self._nodes: dict[str, GPUNode] = {}

    async def existing(self) -> list[GPUNode]:
        return list(self._nodes.values())

    async def get(self, name: str) -> GPUNode | None:
        return self._nodes.get(name)

    async def create(self, name: str) -> GPUNode:
        return self._nodes.setdefault(name, GPUNode(metadata=GPUNodeMeta(name=name)))

    async def write_status(self, node: GPUNode, status: GPUNodeStatus) -> GPUNode:
        stored = self._nodes[node.metadata.name] = msgspec.structs.replace(node, status=status)
        return stored

    async def record(self, node: GPUNode, event: Event) -> None:
        self._told(node.metadata.name, event)
