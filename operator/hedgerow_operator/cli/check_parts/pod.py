"""What else of the pods does not go together with a job that is restarted as a whole. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.build.injection import (
    AGENT_DIRECTORY,
    AGENT_VOLUME,
    INIT_CONTAINER,
    TOKEN_DIRECTORY,
    TOKEN_VOLUME,
)
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.check_parts.pod_view import PodView, named, objects

_error, _warning, _fine = about("pod")


def findings(spec: TrainingJobSpec) -> Iterator[Finding]:
    """What is to say about the pods."""
    pod = PodView.of(spec)
    yield _fine(_ending(pod))
    yield from _taken_names(pod)
    yield from _own_endings(pod)
    yield from _image(pod)
    if pod.spec.get("hostNetwork") and spec.master_port:
        yield _warning(
            f"hostNetwork with masterPort: {spec.master_port} keeps two jobs from one node; leave masterPort out, and "
            "a free one is picked for each start"
        )


def _ending(pod: PodView) -> str:
    told = "pods are never restarted one by one (restartPolicy: Never); Hedgerow restarts all ranks together"
    if pod.sidecars:
        told += f"; beside {pod.container['name']}, {', '.join(pod.sidecars)} are left alone and end with it"
    return told


def _taken_names(pod: PodView) -> Iterator[Finding]:
    for name in named(pod.containers):
        if name == INIT_CONTAINER:
            yield _error(f"a container is called {name}, as the one that Hedgerow adds; give it another name")
    for name in named(objects(pod.spec, "volumes")):
        if name in (AGENT_VOLUME, TOKEN_VOLUME):
            yield _error(f"a volume is called {name}, as one that Hedgerow adds; give it another name")
    for mount in objects(pod.container, "volumeMounts"):
        if str(mount.get("mountPath")).rstrip("/") in (AGENT_DIRECTORY, TOKEN_DIRECTORY):
            yield _error(f"{mount['mountPath']} is where Hedgerow mounts its launcher; mount the volume elsewhere")


def _own_endings(pod: PodView) -> Iterator[Finding]:
    if pod.spec.get("activeDeadlineSeconds"):
        yield _warning(
            "the template's activeDeadlineSeconds ends every pod anew, which counts as a failure; write "
            "spec.activeDeadlineSeconds of the job, counted from its first start"
        )
    if pod.container.get("livenessProbe"):
        yield _warning(
            "a livenessProbe that fails ends the pod and so the attempt, also when the ranks only wait; take it out: "
            "Hedgerow watches the ranks itself"
        )


def _image(pod: PodView) -> Iterator[Finding]:
    image = str(pod.container.get("image") or "")
    if not image:
        yield _error(f"the container {pod.container['name']} has no image; write one")
        return
    name = image.rsplit("/", 1)[-1]
    if "@" not in image and (":" not in name or name.endswith(":latest")):
        yield _warning(
            f'the image "{image}" has no fixed tag, so a restart may run other code than the attempt before; write '
            "a tag or a digest"
        )
