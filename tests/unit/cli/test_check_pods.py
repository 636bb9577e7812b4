"""What `hedgerow check` says about checkpoints, resources and the rest of a pod."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.cli.check_parts import checkpoint, pod, resources
from hedgerow_operator.cli.launching import launch_of
from tests.unit.cli.check_builders import Fields, manifest, spec_of, told

TWO = {"workers": 2}
GPUS = "nvidia.com/gpu"


def stored(volume: Fields, *, mount: Fields | None = None, pod: Fields | None = None, **spec: Any) -> Fields:
    """A job that keeps its checkpoints in /ckpt/run, with this volume at /ckpt."""
    return manifest(
        container={"volumeMounts": [{"name": "v", "mountPath": "/ckpt", **(mount or {})}]},
        pod={"volumes": [{"name": "v", **volume}], **(pod or {})},
        checkpoint={"directory": "/ckpt/run"},
        **spec,
    )


def claims(name: str) -> Fields | None:
    """Claims that are called after their access mode."""
    modes = {"rwx": "ReadWriteMany", "rwo": "ReadWriteOnce", "rox": "ReadOnlyMany", "rwop": "ReadWriteOncePod"}
    return {"spec": {"accessModes": [modes[name]]}} if name in modes else None


def claim(name: str) -> Fields:
    """A volume of that claim."""
    return {"persistentVolumeClaim": {"claimName": name}}


DIRECTORY: dict[str, tuple[Fields, str]] = {
    "no volume at all": (manifest(checkpoint={"directory": "/ckpt"}), "warning: /ckpt is in no volume: it does not"),
    "no volume and a root that is read only": (
        manifest(container={"securityContext": {"readOnlyRootFilesystem": True}}, checkpoint={"directory": "/ckpt"}),
        "error: /ckpt is in no volume, and readOnlyRootFilesystem forbids to write there",
    ),
    "an emptyDir": (stored({"emptyDir": {}}), "warning: /ckpt/run is in the emptyDir volume v: it does not outlive"),
    "an ephemeral claim": (stored({"ephemeral": {}}), "warning: /ckpt/run is in the ephemeral volume v: it does not"),
    "a volume of no kind": (stored({}), "warning: /ckpt/run is in the emptyDir volume v"),
    "a ConfigMap": (
        stored({"configMap": {"name": "x"}}),
        "error: /ckpt/run is in the configMap volume v, which cannot",
    ),
    "a mount that is read only": (stored(claim("rwx"), mount={"readOnly": True}), "error: /ckpt/run is in the pers"),
    "a claim that is mounted read only": (
        stored({"persistentVolumeClaim": {"claimName": "rwx", "readOnly": True}}),
        "error: /ckpt/run is in the persistentVolumeClaim volume v, which cannot be written to",
    ),
    "a volume that is not there": (
        stored({}, mount={"name": "w"}),
        "error: /ckpt/run is in the volume w, which the template does not have",
    ),
    "a directory of the node": (stored({"hostPath": {"path": "/x"}}), "warning: /ckpt/run is a directory of the node"),
    "a directory of a chosen node": (stored({"hostPath": {"path": "/x"}}, pod={"nodeName": "a"}), ""),
    "a directory of chosen nodes for two workers": (
        stored({"hostPath": {"path": "/x"}}, pod={"nodeSelector": {"a": "b"}}, **TWO),
        "warning: /ckpt/run is a directory of the node",
    ),
    "a network file system": (stored({"nfs": {"server": "a", "path": "/b"}}, **TWO), ""),
    "a claim that nobody knows": (stored(claim("new"), **TWO), ""),
    "a claim for many writers": (stored(claim("rwx"), **TWO), ""),
    "a claim for one node, and one worker": (stored(claim("rwo")), ""),
    "a claim for one node, and two workers": (
        stored(claim("rwo"), **TWO),
        "warning: /ckpt/run is in the claim rwo, which is ReadWriteOnce: workers on a second node wait for it",
    ),
    "a claim for one pod, and two workers": (
        stored(claim("rwop"), **TWO),
        "error: /ckpt/run is in the claim rwop, which is ReadWriteOncePod: only one of 2 workers can start",
    ),
    "a claim that nobody writes to": (stored(claim("rox")), "error: /ckpt/run is in the claim rox, whose only access"),
}


@pytest.mark.parametrize("case", DIRECTORY)
def test_the_checkpoint_directory_is(case: str) -> None:
    fields, want = DIRECTORY[case]
    got = told(checkpoint.findings(spec_of(fields), claims))
    assert [sentence[: len(want)] for sentence in got] == ([want] if want else [])


def test_the_innermost_mount_counts() -> None:
    mounts = [{"name": "v", "mountPath": "/ckpt"}, {"name": "inner", "mountPath": "/ckpt/run/"}]
    volumes = [{"name": "v", **claim("rwx")}, {"name": "inner", "emptyDir": {}}]
    fields = manifest(
        container={"volumeMounts": mounts}, pod={"volumes": volumes}, checkpoint={"directory": "/ckpt/run"}
    )
    (sentence,) = told(checkpoint.findings(spec_of(fields), claims))
    assert "the emptyDir volume inner" in sentence


RESUMES: dict[str, tuple[list[str], Fields, str]] = {
    "no checkpoint in the spec": (["python", "a.py"], {}, "warning: spec.checkpoint is not set"),
    "a script that must look itself": (["python", "a.py"], {"checkpoint": {"directory": "/c"}}, "fine: no option of"),
    "an option that takes the newest": (
        ["python", "a.py", "--resume", "auto"],
        {"checkpoint": {"directory": "/c"}},
        "fine: the command resumes by itself: --resume auto",
    ),
    "an option that names one step": (
        ["python", "a.py", "--resume_from_checkpoint=/c/checkpoint-500"],
        {"checkpoint": {"directory": "/c"}},
        "warning: --resume_from_checkpoint=/c/checkpoint-500 is the same checkpoint at every restart",
    ),
}


@pytest.mark.parametrize("case", RESUMES)
def test_a_resume_by(case: str) -> None:
    words, fields, want = RESUMES[case]
    judged = spec_of(manifest(words, **fields))
    (finding,) = checkpoint.resume_findings(judged, launch_of(judged))
    assert f"{finding.level}: {finding.sentence}".startswith(want)


def sized(limits: Fields, requests: Fields | None = None, **more: Any) -> Fields:
    """A job with these limits, memory asked for and /dev/shm in memory, as far as nothing else is said."""
    shared = {"volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}
    asked = {"memory": "1Gi", **(requests or {})}
    resources = {"resources": {"limits": limits, "requests": asked}}
    pod = {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]}
    return manifest(container={**shared, **resources}, pod=pod, **more)


RESOURCES: dict[str, tuple[Fields, list[str]]] = {
    "one device for each rank": (sized({GPUS: 8}, ranksPerWorker=8), []),
    "devices as text": (sized({GPUS: "8"}, {GPUS: "8"}, ranksPerWorker=8), []),
    "more ranks than devices": (sized({GPUS: 4}, ranksPerWorker=8), ["warning: 8 ranks of a worker share 4 of nvid"]),
    "devices that stand idle": (sized({GPUS: 8}), ["warning: a worker has 8 of nvidia.com/gpu for 1 rank; with one"]),
    "devices in requests alone": (sized({}, {GPUS: 1}), ["error: nvidia.com/gpu: requests must be limits"]),
    "no memory": (
        manifest(container={"resources": {}}),
        ["warning: the container asks for no memory: it is the first to be evicted"],
    ),
    "small shared memory": (
        manifest(container={"resources": {"limits": {GPUS: 8, "memory": "1Ti"}}}, ranksPerWorker=8),
        ["warning: /dev/shm has 64 MiB unless a volume is mounted there, too little for DataLoader workers"],
    ),
    "the node's shared memory": (
        manifest(
            container={"resources": {"limits": {GPUS: 8, "memory": "1Ti"}}}, pod={"hostIPC": True}, ranksPerWorker=8
        ),
        [],
    ),
}

PODS: dict[str, tuple[Fields, list[str]]] = {
    "a plain pod": (manifest(), []),
    "no image": (manifest(container={"image": None}), ["error: the container train has no image; write one"]),
    "an image without a tag": (
        manifest(container={"image": "registry:5000/a/train"}),
        ['warning: the image "registry:5000/a/train" has no fixed tag'],
    ),
    "the latest image": (manifest(container={"image": "train:latest"}), ['warning: the image "train:latest" has no']),
    "an image by digest": (manifest(container={"image": "train@sha256:12"}), []),
    "a volume with our name": (
        manifest(pod={"volumes": [{"name": "hedgerow-agent", "emptyDir": {}}]}),
        ["error: a volume is called hedgerow-agent, as one that Hedgerow adds"],
    ),
    "an init container with our name": (
        manifest(pod={"initContainers": [{"name": "hedgerow-inject"}]}),
        ["error: a container is called hedgerow-inject, as the one that Hedgerow adds"],
    ),
    "something at our place": (
        manifest(container={"volumeMounts": [{"name": "v", "mountPath": "/hedgerow/"}]}),
        ["error: /hedgerow/ is where Hedgerow mounts its launcher"],
    ),
    "a deadline for each pod": (
        manifest(pod={"activeDeadlineSeconds": 60}),
        ["warning: the template's activeDeadlineSeconds ends every pod anew"],
    ),
    "a probe for life": (manifest(container={"livenessProbe": {"exec": {}}}), ["warning: a livenessProbe that fails"]),
    "the node's network and a fixed port": (
        manifest(pod={"hostNetwork": True}, masterPort=29500),
        ["warning: hostNetwork with masterPort: 29500 keeps two jobs from one node"],
    ),
}


def _judged(look: Callable[[TrainingJobSpec], Any], fields: Fields, want: list[str]) -> None:
    got = told(look(spec_of(fields)))
    assert len(got) == len(want), got
    assert [sentence for sentence, begin in zip(got, want, strict=True) if not sentence.startswith(begin)] == []


@pytest.mark.parametrize("case", RESOURCES)
def test_resources_with(case: str) -> None:
    _judged(resources.findings, *RESOURCES[case])


@pytest.mark.parametrize("case", PODS)
def test_pods_with(case: str) -> None:
    _judged(pod.findings, *PODS[case])


def test_sidecars_are_named_restartable_ones_too() -> None:
    fields = manifest(
        pod={"initContainers": [{"name": "once"}, {"name": "mesh", "restartPolicy": "Always"}]},
    )
    fields["spec"]["kubernetes"]["template"]["spec"]["containers"].append({"name": "logs"})
    first = next(iter(pod.findings(spec_of(fields))))
    assert first.sentence.endswith("beside train, mesh, logs are left alone and end with it")
