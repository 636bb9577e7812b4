"""The checkpoint directory: whether it outlives the pod, can be written, and is the same for every worker. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.check_parts.pod_view import Fields, PodView, nested
from hedgerow_operator.cli.launching import Launch

_error, _warning, _fine = about("checkpoint")

# A claim of the pod's namespace by its name, as far as it is known.
FindClaim = Callable[[str], Fields | None]
_ONE_STEP = re.compile(r"(checkpoint|step|steps|iter|iteration|epoch|ckpt)[-_=]?\d+", re.IGNORECASE)
_READ_ONLY = ("configMap", "secret", "projected", "downwardAPI", "image")
_PINNED = ("nodeName", "nodeSelector")


def resume_findings(spec: TrainingJobSpec, launch: Launch) -> Iterator[Finding]:
    """How an attempt goes on from where the one before was."""
    if spec.checkpoint is None:
        yield _warning(
            "spec.checkpoint is not set, so nothing is checked before a resume and every restart loses what was "
            "computed, as far as Hedgerow knows; write checkpoint: {directory: …}"
        )
    elif fixed := [words for words in launch.resumes if _ONE_STEP.search(words)]:
        yield _warning(
            f"{fixed[0]} is the same checkpoint at every restart, so what is computed after it is lost each time; "
            "write the option so that it takes the newest, or read HEDGEROW_RESUME_FROM"
        )
    elif launch.resumes:
        yield _fine(f"the command resumes by itself: {', '.join(launch.resumes)}")
    else:
        yield _fine(
            "no option of the command is known to resume; the script must start from HEDGEROW_RESUME_FROM when it is "
            "set, or take the newest checkpoint by itself"
        )


def findings(spec: TrainingJobSpec, claim: FindClaim) -> Iterator[Finding]:
    """What is to say about the directory of a job on Kubernetes."""
    if spec.checkpoint is None:
        return
    directory, pod = spec.checkpoint.directory, PodView.of(spec)
    mount = pod.mount_of(directory)
    if mount is None:
        yield _nowhere(directory, pod)
        return
    volume = pod.volume(mount.get("name"))
    if volume is None:
        yield _error(f"{directory} is in the volume {mount.get('name')}, which the template does not have; add it")
        return
    kind = next((name for name in volume if name != "name"), "emptyDir")
    if mount.get("readOnly") or nested(volume, kind, "readOnly") or kind in _READ_ONLY:
        yield _error(f"{directory} is in the {kind} volume {volume['name']}, which cannot be written to")
        return
    yield _of_kind(kind, directory, volume, spec, pod, claim)


def _nowhere(directory: str, pod: PodView) -> Finding:
    if nested(pod.container, "securityContext", "readOnlyRootFilesystem"):
        return _error(f"{directory} is in no volume, and readOnlyRootFilesystem forbids to write there; mount one")
    return _warning(
        f"{directory} is in no volume: it does not outlive the pod, and a restart in new pods begins at step 0; mount "
        "a volume that every worker reaches"
    )


def _of_kind(
    kind: str, directory: str, volume: Fields, spec: TrainingJobSpec, pod: PodView, claim: FindClaim
) -> Finding:
    if kind in ("emptyDir", "ephemeral"):
        return _warning(
            f"{directory} is in the {kind} volume {volume['name']}: it does not outlive the pod, and a restart in new "
            "pods begins at step 0; use a persistentVolumeClaim"
        )
    if kind == "hostPath":
        return _host_path(directory, spec, pod)
    if kind == "persistentVolumeClaim":
        return _claimed(directory, str(nested(volume, kind, "claimName")), spec, claim)
    return _fine(f"{directory} is in the {kind} volume {volume['name']}, which outlives the pods")


def _host_path(directory: str, spec: TrainingJobSpec, pod: PodView) -> Finding:
    pinned = any(pod.spec.get(field) for field in _PINNED) or nested(pod.spec, "affinity", "nodeAffinity")
    if pinned and spec.workers == 1:
        return _fine(f"{directory} is a directory of the node, and the pod keeps to chosen nodes")
    return _warning(
        f"{directory} is a directory of the node: unless the nodes share it, a pod on another node does not find the "
        "checkpoints; use a persistentVolumeClaim, or one worker with a nodeSelector"
    )


def _claimed(directory: str, name: str, spec: TrainingJobSpec, claim: FindClaim) -> Finding:
    found = claim(name)
    if found is None:
        return _fine(f"{directory} is in the claim {name}, which outlives the pods")
    modes: Any = nested(found, "spec", "accessModes") or []
    if "ReadWriteMany" in modes:
        return _fine(f"{directory} is in the claim {name}, which every worker can write to")
    if modes == ["ReadOnlyMany"]:
        return _error(f"{directory} is in the claim {name}, whose only access mode ReadOnlyMany forbids to write")
    if spec.workers == 1:
        return _fine(f"{directory} is in the claim {name}, which outlives the pod")
    if modes == ["ReadWriteOncePod"]:
        return _error(
            f"{directory} is in the claim {name}, which is ReadWriteOncePod: only one of {spec.workers} workers can "
            "start; use ReadWriteMany"
        )
    return _warning(
        f"{directory} is in the claim {name}, which is ReadWriteOnce: workers on a second node wait for it for ever; "
        "use ReadWriteMany, or keep all workers on one node"
    )
