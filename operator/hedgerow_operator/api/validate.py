"""The checks that the API server makes on a TrainingJob, for places where there is none. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from hedgerow.logs.reader import AUTO, AutoReader
from hedgerow_operator.api.labels import API_VERSION, GPU_NODE_KIND, SLURM_CLUSTER_KIND, TRAINING_JOB_KIND
from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.pod_template import read_pods
from hedgerow_operator.api.problem import Problem, blame
from hedgerow_operator.api.rules import CHANGE_RULES, RULES
from hedgerow_operator.api.schema import Schema, structural, training_job_schema
from hedgerow_operator.api.slurm_rules import UNKNOWN_OPTIONS, unknown_options
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.structure import structure_problems, without_nulls
from hedgerow_operator.api.training_job import TrainingJob, training_job

_LOG_PATTERN = "spec.heartbeat.logPattern"
_NAMESPACE_PATTERN = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_OF_OPERATOR = {SLURM_CLUSTER_KIND: "give it to kubectl apply", GPU_NODE_KIND: "it is written by itself"}

# Written by the API server; in a manifest when it was read back from a cluster.
_SERVER_FIELDS = ("managedFields", "generateName", "selfLink", "deletionGracePeriodSeconds")

_PLACES: dict[str, Callable[[TrainingJob], Any]] = {
    "": lambda job: job,
    "spec": lambda job: job.spec,
    "spec.cost.gpuHourUSD": lambda job: job.spec.cost and job.spec.cost.gpu_hour_usd,
    "spec.slurm": lambda job: job.spec.slurm,
    "spec.local": lambda job: job.spec.local,
    "spec.kubernetes": lambda job: job.spec.kubernetes and read_pods(job.spec.kubernetes),
}


def checked(fields: Any) -> tuple[TrainingJob | None, tuple[Problem, ...]]:
    """The job in one manifest, or what is wrong with it. Rules are looked at once the structure is right.

    ``fields``: the manifest as plain objects. Its status is left out: that is the server's to write.
    """
    header = tuple(header_problems(fields))
    if header:
        return None, header
    schema = manifest_schema()
    written = without_nulls({name: entry for name, entry in fields.items() if name != "status"}, schema)
    problems = tuple(structure_problems(written, schema))
    if problems:
        return None, problems
    job = training_job(written)
    broken = tuple(rule_problems(job))
    return (None, broken) if broken else (job, ())


def header_problems(fields: Any) -> Iterator[Problem]:
    """What is wrong with apiVersion and kind of an object that is meant to be a TrainingJob."""
    if not isinstance(fields, dict):
        yield Problem("", "a manifest must be an object with apiVersion, kind, metadata and spec")
        return
    version, kind = fields.get("apiVersion"), fields.get("kind")
    if not version or not kind:
        yield Problem(
            "", f"apiVersion or kind is missing; write apiVersion: {API_VERSION} and kind: {TRAINING_JOB_KIND}"
        )
    elif kind in _OF_OPERATOR and version == API_VERSION:
        yield blame(
            "kind", f"only kind: {TRAINING_JOB_KIND} is read here; a {kind} is the operator's: {_OF_OPERATOR[kind]}"
        )
    elif kind != TRAINING_JOB_KIND:
        yield blame("kind", f"there is no {kind} in {version}; write kind: {TRAINING_JOB_KIND}")
    elif version != API_VERSION:
        yield blame("apiVersion", f"there is no {kind} in {version}; write apiVersion: {API_VERSION}")


def rule_problems(job: TrainingJob) -> Iterator[Problem]:
    """The rules that the job breaks."""
    blamed = set()
    for rule in RULES:
        value = value_at(job, rule.at)
        if value is not None and not rule.holds(value):
            blamed.add(rule.place)
            yield from unknown_options(value) if rule is UNKNOWN_OPTIONS else (blame(rule.place, rule.message),)
    yield from namespace_problems(job.metadata.namespace)
    if _LOG_PATTERN not in blamed:
        yield from _pattern_problems(job.spec.heartbeat.log_pattern)


def namespace_problems(namespace: str) -> Iterator[Problem]:
    """Whether it can be one; it is also the name of a folder."""
    if re.fullmatch(_NAMESPACE_PATTERN, namespace) is None:
        yield blame("metadata.namespace", "write at most 63 lower-case letters, digits and '-', such as team-a")


def _pattern_problems(pattern: str | None) -> Iterator[Problem]:
    """What CEL cannot look for: whether the reader of logs understands the pattern."""
    try:
        AutoReader(AUTO, pattern)
    except ValueError as error:
        yield blame(_LOG_PATTERN, str(error))


def value_at(job: TrainingJob, place: str) -> Any:
    """The typed value that the rules of a place are about; None when the job has no such part."""
    return _PLACES[place](job)


def change_problems(old: TrainingJobSpec, new: TrainingJobSpec) -> Iterator[Problem]:
    """What ``new`` may not change of the job that was created with ``old``."""
    for rule in CHANGE_RULES:
        if rule.read(old) != rule.read(new):
            yield blame(rule.place, rule.message)


@functools.cache
def manifest_schema() -> Schema:
    """Schema of what a user may write; shared, not to be changed."""
    return writable(training_job_schema())


def writable(schema: Schema) -> Schema:
    """The part of the schema of an object that a user may write."""
    metadata = structural(ObjectMeta)
    metadata["properties"] |= {name: {} for name in _SERVER_FIELDS}
    properties = {name: entry for name, entry in schema["properties"].items() if name != "status"}
    return {**schema, "properties": properties | {"metadata": metadata}, "required": ["metadata", "spec"]}
