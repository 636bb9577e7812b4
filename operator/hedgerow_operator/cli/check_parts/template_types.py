"""Fields of the pod template that a check reads and that have another type than Kubernetes gives them. Pure.

The CRD types only what goes into the Job otherwise than it was written (api/pod_template.py); the rest the API server
would find only when the Job is created.
Types: Kubernetes API, PodTemplateSpec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.cli.check_parts.finding import Finding, about

_error, _warning, _fine = about("template")

_OBJECT, _LIST, _TEXT, _TRUTH, _NUMBER = "an object", "a list of objects", "text", "true or false", "a whole number"
_SOURCE: Mapping[str, Any] = {"": _OBJECT}
_VOLUME = {
    "name": _TEXT,
    "persistentVolumeClaim": {"claimName": _TEXT, "readOnly": _TRUTH},
    "projected": {"sources": [{"configMap": _SOURCE, "secret": _SOURCE}]},
    **dict.fromkeys(("emptyDir", "hostPath", "configMap", "secret", "nfs", "csi", "ephemeral"), _SOURCE),
}
_CONTAINER = {
    "name": _TEXT,
    "image": _TEXT,
    "restartPolicy": _TEXT,
    "resources": {"requests": _SOURCE, "limits": _SOURCE},
    "volumeMounts": [{"name": _TEXT, "mountPath": _TEXT, "readOnly": _TRUTH}],
    "env": [{"name": _TEXT, "value": _TEXT, "valueFrom": _SOURCE}],
    "envFrom": [{"secretRef": _SOURCE, "configMapRef": _SOURCE}],
    "securityContext": _SOURCE,
    "livenessProbe": _SOURCE,
}
_TEMPLATE = {
    "metadata": {"labels": _SOURCE, "annotations": _SOURCE},
    "spec": {
        "containers": [_CONTAINER],
        "initContainers": [_CONTAINER],
        "volumes": [_VOLUME],
        "imagePullSecrets": [{"name": _TEXT}],
        "nodeSelector": _SOURCE,
        "securityContext": _SOURCE,
        "activeDeadlineSeconds": _NUMBER,
        **dict.fromkeys(("hostIPC", "hostPID", "shareProcessNamespace"), _TRUTH),
        **dict.fromkeys(("nodeName", "serviceAccountName", "priorityClassName", "runtimeClassName"), _TEXT),
    },
}
_IS = {
    _OBJECT: lambda value: isinstance(value, Mapping),
    _TEXT: lambda value: isinstance(value, str),
    _TRUTH: lambda value: isinstance(value, bool),
    _NUMBER: lambda value: isinstance(value, int) and not isinstance(value, bool),
}


def findings(spec: TrainingJobSpec) -> Iterator[Finding]:
    """An error for each field of another type."""
    if spec.kubernetes is not None:
        for place, wanted in _wrong(spec.kubernetes.template, _TEMPLATE, "spec.kubernetes.template"):
            yield _error(f"{place}: must be {wanted}, as in any pod; Kubernetes would refuse the Job")


def _wrong(value: Any, wanted: Any, at: str) -> Iterator[tuple[str, str]]:
    """Places of another type, and what belongs there; null counts as left out."""
    if value is None:
        return
    if isinstance(wanted, str):
        if not _IS[wanted](value):
            yield at, wanted
    elif isinstance(wanted, list):
        if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
            yield at, _LIST
            return
        for index, entry in enumerate(value):
            yield from _wrong(entry, wanted[0], f"{at}[{index}]")
    elif not isinstance(value, Mapping):
        yield at, _OBJECT
    else:
        for name, inner in wanted.items():
            yield from _wrong(value.get(name) if name else None, inner, f"{at}.{name}")
