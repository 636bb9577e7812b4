"""Which rank is on which GPU: by the job and rank that a GPU's process was started for, else by its process id, else by
the pod that the GPU was given to and what the rank sees of it."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from hedgerow.wire import Report
from hedgerow.wire_agent import AgentReport, GpuContainer, GpuProcess, GpuReport
from hedgerow_operator.api.labels import placement_name

# Of a pod's name the API server makes up the last characters, and cuts what stands before them where it is too long
# (k8s.io/apiserver/pkg/storage/names).
_MADE_UP = 5
_LONGEST_BASE = 63 - _MADE_UP


class GPUPlace(Struct, frozen=True, kw_only=True):
    """A GPU of a node."""

    node: str
    index: int
    uuid: str = ""
    pci: str = ""

    def __str__(self) -> str:
        told = ", ".join(filter(None, (self.uuid, self.pci)))
        return f"GPU {self.index} of node {self.node}" + (f" ({told})" if told else "")


def place_of(node: str, gpu: GpuReport) -> GPUPlace:
    """The place that a report's entry is about."""
    return GPUPlace(node=node, index=gpu.index, uuid=gpu.uuid, pci=gpu.pci)


def places_in(agent: AgentReport, job: str, launchers: Iterable[Report]) -> dict[int, GPUPlace]:
    """The first GPU of each rank of ``job`` (its uid) by global number, as far as one report tells. launchers: the
    newest reports of those on this node."""
    found: dict[int, GPUPlace] = {}
    launchers = list(launchers)
    users = [(gpu, process) for gpu in agent.gpus for process in gpu.processes or ()]
    for gpu, process in users:
        if process.job == job and process.rank is not None:
            found.setdefault(process.rank, place_of(agent.node, gpu))
    if any(not process.job for _, process in users):
        for rank, gpu in _by_process(users, launchers):
            found.setdefault(rank, place_of(agent.node, gpu))
    for rank, gpu in _by_container(agent, launchers):
        found.setdefault(rank, place_of(agent.node, gpu))
    return found


def _by_container(agent: AgentReport, launchers: list[Report]) -> Iterator[tuple[int, GpuReport]]:
    """By the GPUs that the rank's pod was given, and which of them it sees. A pod that is not the only one of its name
    says nothing."""
    given = [(gpu, owner) for gpu in agent.gpus for owner in _containers(gpu)]
    bases = [_pod_base(report) for report in launchers]
    for report, base in zip(launchers, bases, strict=True):
        mine = [(gpu, owner) for gpu, owner in given if _is_of(owner, report, base)]
        sure = bases.count(base) == 1 and len({owner for _, owner in mine}) == 1
        gpus = [gpu for _, gpu in sorted({gpu.index: gpu for gpu, _ in mine}.items())] if sure else []
        for rank in report.ranks:
            seen = gpus if rank.devices is None else _visible(rank.devices, gpus, agent.gpus)
            place = rank.local_rank if len(seen) > 1 else 0
            if len(seen) in (1, report.ranks_per_worker) and 0 <= place < len(seen):
                yield rank.rank, seen[place]


def _visible(devices: str, given: list[GpuReport], all_here: list[GpuReport]) -> list[GpuReport]:
    """The GPUs that CUDA_VISIBLE_DEVICES names, in its order: by number among those of the container, by UUID or its
    beginning among all. What stands behind a word that names none is not visible (CUDA C++ programming guide)."""
    found: list[GpuReport] = []
    for word in map(str.strip, devices.split(",")):
        number = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else None
        if number is not None:
            named = given[number : number + 1]
        else:
            named = [gpu for gpu in all_here if word.startswith("GPU-") and gpu.uuid.startswith(word)]
        if len(named) != 1:
            break
        found += named
    return found


def _containers(gpu: GpuReport) -> list[GpuContainer]:
    return gpu.containers + [owner for instance in gpu.instances for owner in instance.containers]


def _pod_base(report: Report) -> tuple[str, str]:
    """Namespace and the part of its pod's name that is not made up (a worker is an index of an Indexed Job)."""
    name = f"{placement_name(report.job.name, report.placement)}-{report.worker}-"
    return report.job.namespace, name[:_LONGEST_BASE]


def _is_of(owner: GpuContainer, report: Report, base: tuple[str, str]) -> bool:
    return (owner.namespace, owner.pod[:-_MADE_UP]) == base and len(owner.pod) > _MADE_UP


def _by_process(
    users: list[tuple[GpuReport, GpuProcess]], launchers: Iterable[Report]
) -> Iterable[tuple[int, GpuReport]]:
    """In pods of their own different processes may have the same number: one that is not the only one says nothing."""
    ranks = [rank for report in launchers for rank in report.ranks if rank.pid is not None]
    for rank in ranks:
        mine = [(gpu, process) for gpu, process in users if rank.pid in _numbers(process) and not process.job]
        alike = sum(other.pid == rank.pid for other in ranks)
        if mine and alike == 1 and len({process.pid for _, process in mine}) == 1:
            yield rank.rank, mine[0][0]


def _numbers(process: GpuProcess) -> tuple[int | None, ...]:
    return (process.container_pid,) if process.container_pid is not None else (process.pid,)
