"""Structural schemas (apiextensions v1) of the API structs: one source for the CRD and for checks without a server."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from hedgerow_operator.api.gpu_node import GPUNodeStatus
from hedgerow_operator.api.inference_endpoint import InferenceEndpointStatus
from hedgerow_operator.api.inference_spec import InferenceEndpointSpec
from hedgerow_operator.api.pod_template import PodTemplate
from hedgerow_operator.api.serverless_provider import ServerlessProviderSpec, ServerlessProviderStatus
from hedgerow_operator.api.slurm_cluster import SlurmClusterSpec, SlurmClusterStatus
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.status import TrainingJobStatus

Schema = dict[str, Any]

KEPT_OPEN = "x-kubernetes-preserve-unknown-fields"
_NOT_STRUCTURAL = frozenset({"title", "$ref", "anyOf", "additionalProperties", "default"})


@functools.cache
def training_job_schema() -> Schema:
    """Schema of a whole TrainingJob without its rules; shared, not to be changed."""
    spec = structural(TrainingJobSpec)
    spec["properties"]["kubernetes"]["properties"]["template"] = _opened(structural(PodTemplate))
    return {
        "type": "object",
        "description": "A distributed training job that is watched, and brought back when it stalls.",
        "properties": {
            "apiVersion": {"type": "string", "description": "hedgerow.dev/v1alpha1."},
            "kind": {"type": "string", "description": "TrainingJob."},
            "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
            "spec": spec,
            "status": _without_defaults(structural(TrainingJobStatus)),
        },
        "required": ["spec"],
    }


@functools.cache
def gpu_node_schema() -> Schema:
    """Schema of a whole GPUNode; shared, not to be changed."""
    return {
        "type": "object",
        "description": "What a node's agent says of its GPUs, and whether new attempts use them; written by Hedgerow.",
        "properties": {
            "apiVersion": {"type": "string", "description": "hedgerow.dev/v1alpha1."},
            "kind": {"type": "string", "description": "GPUNode."},
            "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
            "status": _without_defaults(structural(GPUNodeStatus)),
        },
    }


@functools.cache
def slurm_cluster_schema() -> Schema:
    """Schema of a whole SlurmCluster without its rules; shared, not to be changed."""
    about = "A cluster of Slurm that TrainingJobs run on: how it is reached, as whom, and by whose jobs."
    return _whole("SlurmCluster", about, SlurmClusterSpec, SlurmClusterStatus)


@functools.cache
def inference_endpoint_schema() -> Schema:
    """Schema of a whole InferenceEndpoint without its rules; shared, not to be changed."""
    about = "Requests to it go to several serverless GPU providers; a late one gets a second attempt elsewhere."
    return _whole("InferenceEndpoint", about, InferenceEndpointSpec, InferenceEndpointStatus)


@functools.cache
def serverless_provider_schema() -> Schema:
    """Schema of a whole ServerlessProvider without its rules; shared, not to be changed."""
    about = "A serverless GPU service: how it is reached, as whom, and what it costs."
    return _whole("ServerlessProvider", about, ServerlessProviderSpec, ServerlessProviderStatus)


def _whole(kind: str, about: str, spec: type[msgspec.Struct], status: type[msgspec.Struct]) -> Schema:
    return {
        "type": "object",
        "description": about,
        "properties": {
            "apiVersion": {"type": "string", "description": "hedgerow.dev/v1alpha1."},
            "kind": {"type": "string", "description": f"{kind}."},
            "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
            "spec": structural(spec),
            "status": _without_defaults(structural(status)),
        },
        "required": ["spec"],
    }


def structural(kind: type[msgspec.Struct]) -> Schema:
    """The structural schema of a struct: references inlined, defaults kept, nothing nullable."""
    (reference,), components = msgspec.json.schema_components([kind], ref_template="{name}")
    return _cleaned(reference, components)


def _cleaned(node: Schema, components: dict[str, Schema]) -> Schema:
    merged = _merged(node, components)
    cleaned = {name: value for name, value in merged.items() if name not in _NOT_STRUCTURAL}
    if "enum" in merged:
        cleaned["type"] = "string"
    if "properties" in merged:
        cleaned["properties"] = {name: _cleaned(entry, components) for name, entry in merged["properties"].items()}
    if "items" in merged:
        cleaned["items"] = _cleaned(merged["items"], components)
    if isinstance(merged.get("additionalProperties"), dict):
        cleaned["additionalProperties"] = _cleaned(merged["additionalProperties"], components)
    if not cleaned.get("required", True):
        del cleaned["required"]
    return cleaned | _default(merged)


def _merged(node: Schema, components: dict[str, Schema]) -> Schema:
    """The node with what it refers to, or with the one type that it has besides null; its own words win."""
    if "anyOf" in node:
        (value,) = (option for option in node["anyOf"] if option != {"type": "null"})
        return _merged(value, components) | node
    if "$ref" in node:
        return components[node["$ref"]] | node
    return node


def _default(node: Schema) -> Schema:
    """Its default. That of an object is {}, so that each default is written once, at the field itself."""
    default = node.get("default")
    if isinstance(default, dict):
        return {"default": {}} if default else {}
    return {"default": default} if default not in (None, "", ()) else {}


def _without_defaults(schema: Schema) -> Schema:
    """The schema where nothing is filled in."""
    return _mapped({name: value for name, value in schema.items() if name != "default"}, _without_defaults)


def _opened(schema: Schema) -> Schema:
    """The schema where nothing is filled in and every object keeps the fields that it does not know."""
    opened = {name: value for name, value in schema.items() if name != "default"}
    if opened.get("type") == "object" and "additionalProperties" not in opened:
        opened[KEPT_OPEN] = True
    return _mapped(opened, _opened)


def _mapped(schema: Schema, change: Any) -> Schema:
    if "properties" in schema:
        schema["properties"] = {name: change(entry) for name, entry in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = change(schema["items"])
    return schema
