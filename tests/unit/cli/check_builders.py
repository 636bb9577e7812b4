"""Jobs for the tests of `hedgerow check` and `hedgerow render`."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.training_job import training_job
from hedgerow_operator.api.validate import checked
from hedgerow_operator.cli.check_parts.finding import Finding

Fields = dict[str, Any]


def manifest(
    command: list[str] | None = None, *, pod: Fields | None = None, container: Fields | None = None, **spec: Any
) -> Fields:
    """A TrainingJob for Kubernetes; ``container`` and ``pod`` are added to its container and to its pod's spec."""
    trainer = {
        "name": "train",
        "image": "example.com/train:7",
        "command": command or ["python", "train.py"],
        "resources": {"requests": {"memory": "1Gi"}},
        **(container or {}),
    }
    return {
        "apiVersion": "hedgerow.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "llama"},
        "spec": {
            "workers": 1,
            "ranksPerWorker": 1,
            "kubernetes": {"template": {"spec": {"containers": [trainer], **(pod or {})}}},
            **spec,
        },
    }


def spec_of(fields: Fields) -> TrainingJobSpec:
    """The spec of a manifest that keeps every rule."""
    _job, problems = checked(fields)
    assert problems == ()
    return training_job(fields).spec


def local(command: list[str], **spec: Any) -> Fields:
    """A TrainingJob of this machine."""
    fields = manifest(**spec)
    del fields["spec"]["kubernetes"]
    fields["spec"]["local"] = {"command": command}
    return fields


def told(findings: Any) -> list[str]:
    """The findings that are not fine, as LEVEL: SENTENCE."""
    return [f"{one.level}: {one.sentence}" for one in findings if one.level != "fine"]


def all_told(findings: Any) -> list[str]:
    """Every finding, as LEVEL: SENTENCE."""
    found: list[Finding] = list(findings)
    return [f"{one.level}: {one.sentence}" for one in found]
