"""The GPUNode object: what the agent of one node says of its GPUs, and whether new attempts may use the node.

Written by the operator only. The conditions are the truth; state and reason sum them up for display. Times are
RFC 3339.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.labels import API_VERSION, GPU_NODE_KIND
from hedgerow_operator.api.model import Model, list_keyed_by, to_builtins
from hedgerow_operator.api.status import Condition

MAX_GPUS = 64

HEALTHY = "Healthy"
DEGRADED = "Degraded"
QUARANTINED = "Quarantined"
UNREACHABLE = "Unreachable"
NOT_MEASURED = "NotMeasured"
FAILED = "Failed"
TYPES = (HEALTHY, DEGRADED, QUARANTINED, UNREACHABLE)

Health = Literal["Healthy", "NotMeasured", "Degraded", "Failed"]


class Xid(Model, frozen=True, kw_only=True):
    """An error that the driver told of."""

    code: Annotated[int, Meta(description="Its number, as NVIDIA's catalogue lists it.")]
    since: Annotated[str, Meta(description="When it was first seen.")]


class GPUStatus(Model, frozen=True, kw_only=True):
    """One GPU of the node."""

    index: Annotated[int, Meta(description="Its number on the node.")]
    uuid: Annotated[str, Meta(description="Its UUID, as CUDA_VISIBLE_DEVICES may name it.")] = ""
    pci: Annotated[str, Meta(description="Its PCI address, as the kernel's log names it.")] = ""
    name: Annotated[str, Meta(description="Its model.")] = ""
    health: Annotated[Health, Meta(description="Healthy, NotMeasured, Degraded or Failed.")]
    reason: Annotated[str, Meta(description="Why it is not Healthy, in one CamelCase word.")] = ""
    message: Annotated[str, Meta(description="The same for a person.")] = ""
    xid: Annotated[Xid | None, Meta(description="The last Xid of it, until its driver is loaded anew.")] = None


class Quarantine(Model, frozen=True, kw_only=True):
    """Why new attempts avoid the node. It ends some time after what caused it is gone."""

    reason: Annotated[str, Meta(description="What caused it, in one CamelCase word.")]
    message: Annotated[str, Meta(description="The same for a person.")] = ""
    gpus: Annotated[tuple[int, ...], Meta(description="Indexes of the GPUs that caused it; none: the node.")] = ()
    since: Annotated[str, Meta(description="When it began.")]
    cleared_at: Annotated[
        str | None, Meta(description="Since when the node is heard without what caused it; unset while it is there.")
    ] = None


class GPUNodeStatus(Model, frozen=True, kw_only=True):
    """What is known about the node."""

    conditions: Annotated[
        tuple[Condition, ...],
        Meta(description="State of the node, one entry a type.", extra_json_schema=list_keyed_by("type")),
    ] = ()
    state: Annotated[str, Meta(description="The conditions in one word.")] = ""
    reason: Annotated[str, Meta(description="Why, in one word.")] = ""
    gpus_healthy: Annotated[str, Meta(description='GPUs that are healthy, of those that are there: "7/8".')] = ""
    drain_reason: Annotated[
        str | None, Meta(description="Why the node should be emptied, and what it needs then; unset: it need not be.")
    ] = None
    driver_version: Annotated[str, Meta(description="Version of the GPU driver.")] = ""
    quarantine: Annotated[Quarantine | None, Meta(description="Set while new attempts avoid the node.")] = None
    gpus: Annotated[
        tuple[GPUStatus, ...],
        Meta(description="Its GPUs.", max_length=MAX_GPUS, extra_json_schema=list_keyed_by("index")),
    ] = ()


class GPUNodeMeta(Model, frozen=True, kw_only=True):
    """The fields of ``metadata`` that are read, or must survive a write of the status."""

    name: str
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[dict[str, Any], ...] = ()
    deletion_timestamp: str | None = None


class GPUNode(Model, frozen=True, kw_only=True):
    """One node with GPUs; its name is the node's."""

    api_version: str = API_VERSION
    kind: str = GPU_NODE_KIND
    metadata: GPUNodeMeta
    status: GPUNodeStatus = GPUNodeStatus()


def gpu_node(fields: dict[str, Any]) -> GPUNode:
    """The GPUNode in a plain dict, such as the API server gives; ValueError names the field that is wrong."""
    try:
        return msgspec.convert(fields, GPUNode)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def gpu_node_fields(node: GPUNode) -> dict[str, Any]:
    """The plain dict of a node, with the names of the API; what is None is left out."""
    fields: dict[str, Any] = to_builtins(node)
    return fields
