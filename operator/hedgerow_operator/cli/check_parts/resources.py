"""Processors, memory and GPUs that the container which trains asks for. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.check_parts.pod_view import PodView

_error, _warning, _fine = about("resources")

# Device plugins' names: one of them is one device.
_DEVICES = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  (a place that is looked for)


def findings(spec: TrainingJobSpec) -> Iterator[Finding]:
    """What is to say about the resources."""
    pod = PodView.of(spec)
    yield from _devices(spec, pod)
    yield from _memory(pod)
    yield from _shared_memory(spec, pod)


def _devices(spec: TrainingJobSpec, pod: PodView) -> Iterator[Finding]:
    requests, limits = pod.quantities("requests"), pod.quantities("limits")
    asked = [name for name in _DEVICES if name in limits or name in requests]
    if not asked:
        yield _fine("the container asks for no GPU")
    for name in asked:
        if str(requests.get(name, limits.get(name))) != str(limits.get(name)):
            yield _error(f"{name}: requests must be limits, and Kubernetes takes it from limits alone; write it there")
        elif str(limits[name]).isdigit():
            yield _compared(name, int(limits[name]), spec.ranks_per_worker)


def _compared(name: str, devices: int, ranks: int) -> Finding:
    if devices == ranks:
        return _fine(f"each of {ranks} ranks of a worker has a {name} of its own")
    if devices < ranks:
        return _warning(
            f"{ranks} ranks of a worker share {devices} of {name}; is ranksPerWorker meant to be {devices}?"
        )
    return _warning(
        f"a worker has {devices} of {name} for {ranks} {'rank' if ranks == 1 else 'ranks'}; with one for each, "
        f"{devices - ranks} stand idle: is ranksPerWorker meant to be {devices}?"
    )


def _memory(pod: PodView) -> Iterator[Finding]:
    if "memory" not in pod.quantities("requests") and "memory" not in pod.quantities("limits"):
        yield _warning(
            "the container asks for no memory: it is the first to be evicted when the node runs short; write "
            "resources.requests.memory"
        )


def _shared_memory(spec: TrainingJobSpec, pod: PodView) -> Iterator[Finding]:
    mount = pod.mount_of(_SHARED_MEMORY)
    mounted = mount is not None and mount.get("mountPath", "").rstrip("/") == _SHARED_MEMORY
    has_devices = any(name in pod.quantities("limits") for name in _DEVICES)
    if mounted or pod.spec.get("hostIPC") or not (has_devices and spec.ranks_per_worker > 1):
        return
    # 64 MiB: the default of container runtimes.
    yield _warning(
        f"{_SHARED_MEMORY} has 64 MiB unless a volume is mounted there, too little for DataLoader workers and NCCL "
        f"among {spec.ranks_per_worker} ranks; mount emptyDir: {{medium: Memory}} at it"
    )
